// Contacts of the org, read with force.js. Nothing is kept on this device.
const LIST = ["Id", "Name", "Title", "Account.Name"];
const DETAIL = [
  "Id", "Name", "Title", "Department", "Account.Name", "Phone", "MobilePhone", "Email",
  "MailingStreet", "MailingCity", "MailingPostalCode", "MailingCountry", "Description", "LastModifiedDate",
];
const SEARCHED = ["Name", "Account.Name", "MailingCity"];
export const PAGE_SIZE = 25;

/** A text as a SOQL literal. What a user types must never end the literal. */
const literal = (text) => `'${text.replace(/[\\']/g, "\\$&")}'`;

/** A pattern for LIKE that finds `text` anywhere, with `%` and `_` as plain characters. */
const containing = (text) => `'%${text.replace(/[\\'%_]/g, "\\$&")}%'`;

/** One page of the contacts that match `text`: `{records, hasMore}`. */
export async function find(text, offset = 0) {
  const pattern = containing(text);
  const condition = text === "" ? "" : ` WHERE ${SEARCHED.map((field) => `${field} LIKE ${pattern}`).join(" OR ")}`;
  // One more than is shown tells whether there are more.
  const { records } = await window.forceJsClient.query(
    `SELECT ${LIST.join(", ")} FROM Contact${condition} ORDER BY Name, Id LIMIT ${PAGE_SIZE + 1} OFFSET ${offset}`
  );
  return { records: records.slice(0, PAGE_SIZE), hasMore: records.length > PAGE_SIZE };
}

/** One contact with its details, or null if it does not exist any more. */
export async function read(id) {
  const { records } = await window.forceJsClient.query(`SELECT ${DETAIL.join(", ")} FROM Contact WHERE Id = ${literal(id)}`);
  return records.length > 0 ? records[0] : null;
}
