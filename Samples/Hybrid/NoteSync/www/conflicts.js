// Shows a conflict, and how a person ends it. The same file in each sample that uses it.
import { element } from "./common.js";
import { versionsTable } from "./versions.js";

const button = (text, onclick, kind) => element("button", { type: "button", class: kind, onclick }, text);

const side = (conflict, name) => {
  const known = conflict.fields.filter((field) => field[name] !== undefined);
  return known.length > 0 ? Object.fromEntries(known.map((field) => [field.name, field[name]])) : null;
};

/**
 * The elements for a conflict. `fields`: `[{name, label}]` of the object, `noun` its word, such as "contact"; `resolve` is
 * called with a resolution and a sentence that says what follows.
 */
export function conflictView(conflict, { fields, noun, resolve }) {
  const choices = (...buttons) => element("div", { class: "actions" }, buttons);
  const mine = (text, after) => button(text, () => resolve("mine", after), "primary");
  const theirs = (text, after) => button(text, () => resolve("theirs", after));
  const shown = fields.filter(({ name }) => conflict.fields.some((field) => field.name === name));
  switch (conflict.kind) {
    case "deletedThere":
      return [
        element("p", {}, `Another user has deleted this ${noun}, and you have changed it.`),
        choices(
          mine("Create it again", `The next sync creates the ${noun} again.`),
          theirs("Delete it here too", `The ${noun} was deleted.`)
        ),
      ];
    case "deletedHere":
      return [
        element("p", {}, `You have deleted this ${noun}. Another user has changed it since.`),
        versionsTable(shown, { base: side(conflict, "base"), mine: null, theirs: side(conflict, "theirs") }).table,
        choices(
          mine("Delete it all the same", `The next sync deletes the ${noun}.`),
          theirs("Keep the server's", `The ${noun} is as the server has it.`)
        ),
      ];
    case "inDoubt":
      return [
        element("p", {}, `You have created this ${noun}, and the server's response was lost. Does the server have it?`),
        choices(
          conflict.candidates?.map(({ id }) => button(`It is ${id}`, () => resolve({ record: id }, `The ${noun} is that of the server.`))),
          button("Create it again", () => resolve("create", `The next sync creates the ${noun}.`), "primary")
        ),
      ];
    case "parentMissing":
      return [
        element("p", {}, `This ${noun} belongs to a record that another user has deleted.`),
        choices(
          button("Create that record again", () => resolve("recreateParent", "The next sync creates both."), "primary"),
          theirs("Drop my change", "Your change was dropped.")
        ),
      ];
    default: {
      const { table, values } = versionsTable(shown, {
        base: side(conflict, "base"), mine: side(conflict, "mine") || {}, theirs: side(conflict, "theirs") || {},
      });
      const chosen = () => Object.fromEntries(Object.entries(values()).map(([name, value]) => [name, value || null]));
      return [
        element("p", {}, `You and another user have changed this ${noun}. Choose what it is to be.`),
        table,
        choices(
          button("Keep what is chosen", () => resolve({ values: chosen() }, "The next sync uploads what you chose."), "primary"),
          theirs("Take the server's", `The ${noun} is as the server has it.`)
        ),
      ];
    }
  }
}
