// The warehouse of Docs/Guides/Tutorial-Warehouse.md: what is in stock, and changes of quantities, through the REST API.
//
//   node warehouse.mjs list
//   node warehouse.mjs show NAME
//   node warehouse.mjs set NAME QUANTITY
//
// FIELDFORCE_BRIDGE has the first line of `fieldforce hybrid serve`.
import { RestError, connect } from "../../Plugins/Servers/HybridServer/JavaScript/plugins/fieldforce/node/index.js";

const literal = (text) => `'${text.replace(/[\\']/g, "\\$&")}'`;

/** All merchandise by name, page by page. */
async function* list(rest) {
  yield* rest.query("SELECT Name, Price__c, Quantity__c FROM Merchandise__c ORDER BY Name");
}

/** The merchandise with a name. */
async function find(rest, name) {
  for await (const record of rest.query(`SELECT Id, Name, Price__c, Quantity__c FROM Merchandise__c WHERE Name = ${literal(name)}`)) return record;
  throw new Error(`There is no merchandise '${name}'. 'list' shows the names.`);
}

/** Sets the quantity of a merchandise, and gives the merchandise as the server has it then. */
async function setQuantity(rest, name, text) {
  const quantity = Number(text);
  if (!Number.isInteger(quantity) || quantity < 0) throw new Error(`'${text}' is no quantity. Give a whole number from 0.`);
  const { Id } = await find(rest, name);
  await rest.update("Merchandise__c", Id, { Quantity__c: quantity });
  return rest.retrieve("Merchandise__c", Id, ["Name", "Price__c", "Quantity__c"]);
}

const line = ({ Name, Price__c, Quantity__c }) => `${Name}: ${Quantity__c} at ${Price__c.toFixed(2)}`;

async function run(rest, [command, name, quantity]) {
  if (command === "list") for await (const record of list(rest)) console.log(line(record));
  else if (command === "show" && name) console.log(line(await find(rest, name)));
  else if (command === "set" && quantity) console.log(line(await setQuantity(rest, name, quantity)));
  else throw new Error("Usage: node warehouse.mjs list | show NAME | set NAME QUANTITY");
}

const fieldforce = connect();
try {
  await run(fieldforce.rest(), process.argv.slice(2));
} catch (error) {
  console.error(`error: ${error instanceof RestError && error.status === 0 ? "the server does not respond" : error.message}`);
  process.exitCode = 1;
} finally {
  fieldforce.close();
}
