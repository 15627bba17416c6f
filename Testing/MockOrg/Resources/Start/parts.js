// What all views use.

export const find = id => document.getElementById(id);
export const text = (id, value) => { find(id).textContent = value; };
export const amount = number => number.toLocaleString("en-US");

export function size(bytes) {
  if (bytes < 1024) return bytes + " B";
  return bytes < 1048576 ? (bytes / 1024).toFixed(1) + " kB" : (bytes / 1048576).toFixed(1) + " MB";
}

/// Whether an object's records are a user's data: every org has users and the like.
export const holdsData = object => object.count > 0 && !["Group", "Organization", "Profile", "RecordType", "User"].includes(object.name);

export function element(name, content, kind) {
  const made = document.createElement(name);
  if (content !== undefined) made.textContent = content;
  if (kind) made.className = kind;
  return made;
}

/// Adds a cell; without a value it shows a dash.
export function cell(row, value, kind) {
  const isMissing = value === null || value === undefined || value === "";
  const made = element("td", isMissing ? "–" : value, [kind, isMissing ? "null" : ""].filter(Boolean).join(" "));
  if (!isMissing) made.title = value;
  row.append(made);
  return made;
}

/// Asks the control endpoint.
export async function call(method, path, body) {
  const answer = await fetch("/mock-org/" + path, {
    method, body: body && JSON.stringify(body), headers: body ? { "Content-Type": "application/json" } : {} });
  if (!answer.ok) {
    const words = await answer.json().then(errors => errors[0].message, () => "The org answered " + answer.status + ".");
    throw Object.assign(new Error(words), { status: answer.status });
  }
  return answer.status === 204 ? null : answer.json();
}

let sayingUntil;
/// Shows a short message for a moment.
export function say(message, isBad = false) {
  const toast = find("toast");
  toast.textContent = message;
  toast.className = isBad ? "toast bad" : "toast";
  toast.hidden = false;
  clearTimeout(sayingUntil);
  sayingUntil = setTimeout(() => { toast.hidden = true; }, isBad ? 6000 : 2500);
}

/// Runs what a person asked for, and tells them when it fails.
export async function act(work, message) {
  try {
    await work();
    if (message) say(message);
  } catch (error) {
    say(error instanceof TypeError ? "The org does not answer." : error.message, true);
  }
}

/// Of what the page asks for by itself the next turn tells whether it fails.
export const ignoringFailure = work => work.catch(() => {});

/// Shows names and values beside the page.
export function showDetail(title, pairs) {
  text("detail-title", title);
  const table = element("table"), body = table.createTBody();
  for (const [name, value] of pairs) {
    const row = body.insertRow();
    cell(row, name);
    const shown = typeof value === "object" && value !== null ? JSON.stringify(value, null, 2) : value;
    if (typeof shown === "string" && shown.includes("\n")) row.insertCell().append(element("pre", shown));
    else cell(row, shown === true || shown === false ? String(shown) : shown, "mono");
  }
  find("detail-body").replaceChildren(table);
  find("detail").showModal();
}

find("close-detail").onclick = () => find("detail").close();
find("detail").onclick = event => { if (event.target === find("detail")) find("detail").close(); };
