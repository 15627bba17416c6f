// Checks a page in the browser for what keeps people with a keyboard, a screen reader or weak eyes out. It checks a part of
// the rules of WCAG 2.2 AA, in the manner of axe-core.

/** Runs in the page: returns sentences, one for each finding. */
function audit() {
  const findings = [];
  const say = (rule, element, text) => findings.push(`${rule}: ${path(element)} ${text}`);
  const path = (element) => {
    const name = element.localName + (element.id ? `#${element.id}` : "") + [...element.classList].map((one) => `.${one}`).join("");
    return `<${name}> "${(element.getAttribute("aria-label") ?? element.textContent).trim().slice(0, 40)}"`;
  };
  const isShown = (element) => element.checkVisibility({ checkOpacity: false, checkVisibilityCSS: true }) && !element.closest("[aria-hidden=true]");
  const all = [...document.querySelectorAll("body *")].filter(isShown);
  const byId = (ids) => (ids ?? "").split(/\s+/).filter(Boolean).map((id) => document.getElementById(id));

  // Ids and references.
  const ids = new Map();
  for (const { id } of document.querySelectorAll("[id]")) ids.set(id, (ids.get(id) ?? 0) + 1);
  for (const [id, count] of ids) if (count > 1) findings.push(`duplicate-id: ${id} stands ${count} times`);
  for (const element of all) {
    for (const name of ["aria-labelledby", "aria-describedby", "aria-controls", "aria-activedescendant", "for"]) {
      if (element.hasAttribute(name) && byId(element.getAttribute(name)).some((one) => one === null)) say("reference", element, `has ${name}="${element.getAttribute(name)}", which is not on the page`);
    }
  }

  // Names.
  const nameOf = (element) => {
    const labelled = byId(element.getAttribute("aria-labelledby")).map((one) => one?.textContent).join(" ").trim();
    if (labelled) return labelled;
    if (element.getAttribute("aria-label")?.trim()) return element.getAttribute("aria-label").trim();
    if (element.labels?.length) return [...element.labels].map((one) => one.textContent).join(" ").trim();
    if (!element.matches("input, select, textarea")) {
      const text = [...element.childNodes].map(function read(node) {
        if (node.nodeType === 3) return node.data;
        if (node.nodeType !== 1 || node.getAttribute("aria-hidden") === "true") return "";
        return node.getAttribute("aria-label") ?? (node.localName === "img" ? node.alt : [...node.childNodes].map(read).join(""));
      }).join("").trim();
      if (text) return text;
    }
    return element.title.trim();
  };
  const NAMED = "a[href], button, input:not([type=hidden]), select, textarea, summary, dialog, nav, aside, progress, [role=grid], [role=tree], [role=treeitem], [role=region], [role=listbox], [role=option], [role=search] input, [tabindex='0']";
  for (const element of all.filter((one) => one.matches(NAMED))) if (!nameOf(element)) say("name", element, "has no name");
  for (const element of all.filter((one) => one.matches("a[href]") && nameOf(one).length < 1)) say("link-name", element, "has no text");

  // Roles and states.
  const PARENTS = { treeitem: "[role=tree], [role=group]", option: "[role=listbox]", row: "[role=grid], table", gridcell: "[role=row], tr" };
  const STATES = { "aria-expanded": "true false", "aria-selected": "true false", "aria-pressed": "true false mixed", "aria-current": "page true false step location", "aria-sort": "none ascending descending", "aria-busy": "true false", "aria-live": "polite assertive off", "aria-hidden": "true false", "aria-readonly": "true false" };
  const ROLES = new Set(["alert", "combobox", "grid", "group", "listbox", "none", "option", "region", "search", "status", "tree", "treeitem"]);
  for (const element of document.querySelectorAll("body *")) {
    const role = element.getAttribute("role");
    if (role !== null && !ROLES.has(role)) say("role", element, `has the unknown role "${role}"`);
    if (PARENTS[role] && !element.parentElement.closest(PARENTS[role])) say("role-parent", element, `is no part of ${PARENTS[role]}`);
    for (const [name, values] of Object.entries(STATES)) if (element.hasAttribute(name) && !values.split(" ").includes(element.getAttribute(name))) say("state", element, `has ${name}="${element.getAttribute(name)}"`);
  }
  for (const element of document.querySelectorAll("[aria-hidden=true] a[href], [aria-hidden=true] button, [aria-hidden=true] [tabindex='0']")) if (element.checkVisibility()) say("hidden-focus", element, "can get the focus, and is hidden from screen readers");
  for (const list of all.filter((one) => one.matches("ul:not([role]), ol:not([role])"))) for (const child of list.children) if (child.localName !== "li") say("list", child, "is no item of its list");
  for (const element of all.filter((one) => one.matches("dl"))) for (const child of element.children) if (!child.matches("div, dt, dd")) say("list", child, "is no part of a definition list");
  for (const table of all.filter((one) => one.matches("table:not([role])"))) if (!table.querySelector("th[scope]")) say("table", table, "has no headings");
  for (const element of all.filter((one) => one.matches("button button, a button, button a, a a, button input, a input, summary button"))) say("nested", element, "is a control inside of a control");
  for (const element of all) if (element.tabIndex > 0) say("tabindex", element, "has a positive tabindex");

  // Page, landmarks, headings.
  if (!document.documentElement.lang) findings.push("lang: the page has no language");
  if (!document.title.trim()) findings.push("title: the page has no title");
  if (/user-scalable\s*=\s*no|maximum-scale/.test(document.querySelector("meta[name=viewport]")?.content ?? "")) findings.push("viewport: the page forbids zoom");
  if (document.querySelectorAll("main").length !== 1) findings.push("landmark: there is not one main");
  for (const element of all.filter((one) => one.parentElement === document.body && !one.matches("main, header, nav, aside, dialog, .skip, ff-shell"))) say("landmark", element, "stands outside of all landmarks");
  const scope = document.querySelector("dialog[open]") ?? document.querySelector("main");
  const headings = [...scope.querySelectorAll("h1, h2, h3, h4")].filter(isShown);
  if (scope.localName === "main" && headings.filter(({ localName }) => localName === "h1").length !== 1) findings.push("heading: there is not one h1");
  headings.reduce((before, heading) => {
    const level = Number(heading.localName[1]);
    if (level > before + 1) say("heading", heading, `is of level ${level} after one of level ${before}`);
    if (!heading.textContent.trim()) say("heading", heading, "is empty");
    return level;
  }, scope.localName === "main" ? 0 : 1);

  // Contrast: text against what is behind it.
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const colors = new Map();
  const rgba = (color) => {
    if (!colors.has(color)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = color;
      canvas.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
      colors.set(color, [r, g, b, a / 255]);
    }
    return colors.get(color);
  };
  const over = ([r, g, b, a], [R, G, B]) => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a), 1];
  const behind = (element) => {
    const layers = [];
    for (let one = element; one; one = one.parentElement) {
      const color = rgba(getComputedStyle(one).backgroundColor);
      if (color[3] > 0) layers.push(color);
      if (color[3] === 1) break;
    }
    return layers.reverse().reduce((ground, layer) => over(layer, ground), [255, 255, 255, 1]);
  };
  const light = ([r, g, b]) => [r, g, b].map((value) => value / 255).map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)).reduce((sum, value, index) => sum + value * [0.2126, 0.7152, 0.0722][index], 0);
  const ratio = (one, other) => {
    const [high, low] = [light(one), light(other)].sort((left, right) => right - left);
    return (high + 0.05) / (low + 0.05);
  };
  for (const element of all) {
    const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!hasText || element.matches(":disabled, :disabled *, option, script, noscript") || element.closest("#announcements:not(.shown), .hidden, .skip:not(:focus)")) continue;
    const style = getComputedStyle(element);
    const ground = behind(element);
    const found = ratio(over(rgba(style.color), ground), ground);
    const size = parseFloat(style.fontSize);
    const least = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
    if (found < least) say("contrast", element, `has a contrast of ${found.toFixed(2)}, less than ${least}`);
  }
  for (const element of all.filter((one) => one.matches("button:not(:disabled), input:not([type=range], [type=radio], [type=checkbox]), select, textarea"))) {
    const style = getComputedStyle(element);
    if (style.borderStyle === "none" || parseFloat(style.borderWidth) === 0) continue;
    const ground = behind(element.parentElement);
    const best = Math.max(ratio(over(rgba(style.borderColor), ground), ground), ratio(behind(element), ground));
    if (best < 3 && !element.matches(".conflict-item")) say("contrast", element, `has a border with a contrast of ${best.toFixed(2)}, less than 3`);
  }

  // Sizes of targets; links in lines of text are exempt.
  for (const element of all.filter((one) => one.matches("button, select, input, summary, nav a"))) {
    const { width, height } = (element.closest("label") ?? element).getBoundingClientRect();
    if (width > 0 && (height < 23.5 || width < 16) && !element.matches("thead button, summary, input[type=radio], input[type=checkbox], input[type=range], button.link")) say("target", element, `is ${Math.round(width)} by ${Math.round(height)} pixels`);
  }
  return findings;
}

export const AUDIT = `(${audit})()`;

/** Walks through a page with the Tab key. Returns findings: what never gets the focus, what shows none, what traps it. */
export async function walk(browser, limit = 400) {
  const expected = await browser.evaluate(`(() => {
    const scope = document.querySelector("dialog[open]") ?? document;
    const list = [...scope.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")]
      .filter((one) => one.checkVisibility({ checkVisibilityCSS: true }) && !one.disabled && one.tabIndex >= 0 && !(one.type === "radio" && [...document.getElementsByName(one.name)].some((other) => other !== one && (other.checked || (other.compareDocumentPosition(one) & 4)))));
    list.forEach((one, index) => (one.dataset.walk = index));
    list[0]?.focus();
    return list.length;
  })()`);
  const findings = [];
  // From the first on.
  const order = expected ? ["0"] : [];
  for (let step = 0; step < limit; step++) {
    await browser.press("Tab");
    const found = await browser.evaluate(`(() => {
      const one = document.activeElement;
      if (!one || one === document.body) return null;
      const style = getComputedStyle(one);
      const shown = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0 || [one.parentElement, one.querySelector(".node")].some((other) => other && getComputedStyle(other).outlineStyle !== "none");
      const box = one.getBoundingClientRect();
      const isOnScreen = box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
      return { walk: one.dataset.walk ?? null, shown, isOnScreen, name: one.localName + " " + (one.getAttribute("aria-label") ?? one.textContent).trim().slice(0, 30) };
    })()`);
    if (found === null || (found.walk !== null && order.includes(found.walk))) break;
    if (found.walk !== null) order.push(found.walk);
    if (!found.shown) findings.push(`focus: ${found.name} shows no focus`);
    if (!found.isOnScreen) findings.push(`focus: ${found.name} has the focus out of sight`);
  }
  const missed = await browser.evaluate(`[...document.querySelectorAll("[data-walk]")].filter((one) => !${JSON.stringify(order)}.includes(one.dataset.walk)).map((one) => one.localName + " " + (one.getAttribute("aria-label") ?? one.textContent).trim().slice(0, 30))`);
  for (const name of missed.slice(0, 5)) findings.push(`focus: ${name} is not reached by Tab (${order.length} of ${expected})`);
  await browser.evaluate(`document.querySelectorAll("[data-walk]").forEach((one) => delete one.dataset.walk)`);
  return findings;
}
