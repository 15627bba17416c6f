// Accounts, the ages of their tokens, login hosts and policies.
import { age, counted, time } from "../data/format.js";
import { fill, h } from "../parts/dom.js";
import { act, announce, confirm, documentNotice } from "../parts/notice.js";
import { badge, empty, facts, Page } from "../parts/page.js";
import { visible } from "../parts/text.js";

const LOGIN = { loggedIn: "good", notLoggedIn: "warn", loggingOut: "busy" };

class AccountsPage extends Page {
  static title = "Accounts";

  async load({ api, app }) {
    const { accounts, unreadable, loginHosts, policies } = await api.get("accounts", {}, this.signal);
    this.place = h("div");
    this.isWritable = app.status?.access === "readWrite";
    fill(this, this.heading("Accounts", h("span.quiet", counted(accounts.length, "account"))), this.place,
      unreadable.map(({ file, error }) => h("div", h("p.quiet", "Account file ", h("code", visible(file, { length: 100 }))), documentNotice("bad", error))),
      accounts.length ? h("div.cards", accounts.map((account) => this.#card(account))) : empty("There is no account.", "Log in with 'fieldforce login' or in the app."),
      h("section", h("h2", "Login hosts"), this.#list(["Name", "Address", ""], loginHosts.map((host) => [visible(host.name, { length: 80 }), h("code", visible(host.url, { length: 200 })), [host.selected ? badge("good", "selected") : null, " ", host.isDeletable ? badge("info", "added") : null]]))),
      h("section", h("h2", "Policies"), policies.length ? this.#list(["Policy", "Value", "From"], policies.map(({ name, value, source }) => [visible(name, { length: 80 }), visible(value, { length: 200 }), visible(source, { length: 80 })])) : empty("No policy is in force.")));
  }

  #list(heads, rows) {
    return h("div.wide-table", { tabindex: "0", role: "region", "aria-label": heads[0] }, h("table.plain", h("thead", h("tr", heads.map((text) => h("th", { scope: "col" }, text || h("span.hidden", "State"))))),
      h("tbody", rows.map(([first, ...rest]) => h("tr", h("th", { scope: "row" }, first), rest.map((cell) => h("td", cell)))))));
  }

  #card(account) {
    const { access, refresh } = account.tokens;
    const expiry = access?.expiryTime ? `, expires ${time(access.expiryTime)}` : "";
    const choose = h("button", { type: "button", disabled: !this.isWritable, onclick: () => act(choose, this.place, async () => {
      await this.context.api.post(`accounts/${account.id}/switch`, {}, this.signal);
      announce(`${account.username} is the current user.`, { isShown: true });
      await this.context.app.show({ isReload: true });
    }) }, "Make current");
    const out = h("button.danger", { type: "button", disabled: !this.isWritable, onclick: () => this.#logOut(account, out) }, "Log out");
    return h("section.card", { "aria-label": account.username },
      h("header", h("h2", visible(account.username, { length: 100 })), account.current ? badge("good", "current user") : null, badge(LOGIN[account.loginState] ?? "info", account.loginState)),
      facts([
        ["User", h("code", visible(account.userId, { length: 40 }))], ["Org", h("code", visible(account.organizationId, { length: 40 }))], ["Instance", h("code", visible(account.instanceUrl ?? "–", { length: 200 }))],
        ["Login server", h("code", visible(account.loginServer, { length: 200 }))], ["Scopes", visible(account.scopes.join(", ") || "not known", { length: 300 })],
        ["Access token", access ? `${age(access.issuedTime)}${access.format ? `, ${access.format}` : ""}${expiry}` : "none"], ["Refresh token", refresh ? age(refresh.issuedTime) : "none"],
        ["Unsynced", account.unsynced === null ? "cannot be counted" : counted(account.unsynced, "entry", "entries")],
      ]),
      h("p.quiet", "The values of tokens are never sent to this page."),
      h("div.buttons", account.current ? null : choose, out));
  }

  async #logOut(account, button) {
    const lost = account.unsynced ? `${counted(account.unsynced, "entry is", "entries are")} not uploaded and would be lost for good. ` : "";
    if (!(await confirm(`Log out ${account.username}?`, `${lost}Tokens, stores and all data of the account are removed from this device.`, { action: lost ? "Log out and lose them" : "Log out", isDangerous: true }))) return;
    await act(button, this.place, async () => {
      await this.context.api.post(`accounts/${account.id}/logout`, { force: Boolean(lost) }, this.signal);
      announce(`${account.username} was logged out.`, { isShown: true });
      await this.context.app.show({ isReload: true });
    });
  }
}

customElements.define("ff-page-accounts", AccountsPage);
