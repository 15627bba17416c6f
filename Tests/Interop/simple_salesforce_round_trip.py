"""simple-salesforce, unmodified, against a running mock org.

The client always writes https; only the session's transport knows that loopback is plain http.
Reads the server's connection document (the first line of `fieldforce org serve`) from standard input.
"""

import json
import sys

import requests
from requests.adapters import HTTPAdapter
from simple_salesforce import Salesforce
from simple_salesforce.exceptions import (
    SalesforceMalformedRequest,
    SalesforceResourceNotFound,
)


class PlainLoopback(HTTPAdapter):
    def send(self, request, *args, **kwargs):
        request.url = request.url.replace("https://", "http://", 1)
        return super().send(request, *args, **kwargs)


org = json.loads(sys.stdin.readline())
session = requests.Session()
session.mount("https://127.0.0.1", PlainLoopback())
sf = Salesforce(
    instance_url=org["instanceUrl"].replace("http://", "https://"),
    session_id=org["accessToken"],
    session=session,
)

passed = 0


def case(name, holds):
    global passed
    if not holds:
        raise SystemExit(f"FAILED: {name}")
    passed += 1


names = {o["name"] for o in sf.describe()["sobjects"]}
case("global describe lists Account and Contact", {"Account", "Contact"} <= names)
fields = {f["name"]: f for f in sf.Account.describe()["fields"]}
case("describe gives the length of Name", fields["Name"]["length"] == 255)

made = sf.Account.create({"Name": "Interop", "NumberOfEmployees": 12})
case("create answers with an id", made["success"] and len(made["id"]) == 18)
account = sf.Account.get(made["id"])
case("get returns what was created", account["NumberOfEmployees"] == 12)
case("update answers 204", sf.Account.update(made["id"], {"Phone": "0"}) == 204)
found = sf.query(f"SELECT Id, Phone, Owner.Name FROM Account WHERE Id = '{made['id']}'")
case("query sees the update", found["records"][0]["Phone"] == "0")
case("query follows a parent", found["records"][0]["Owner"]["Name"] != "")

contact = sf.Contact.create({"LastName": "O'Hara", "AccountId": made["id"]})
row = sf.query("SELECT Name, Account.Name FROM Contact WHERE LastName = 'O\\'Hara'")["records"][0]
case("an escaped quote is data", row["Account"]["Name"] == "Interop")

tree = [{"Name": f"Paged {i:04d}"} for i in range(450)]
for first in range(0, len(tree), 200):
    results = sf.restful(
        "composite/sobjects",
        method="POST",
        json={
            "allOrNone": False,
            "records": [
                {"attributes": {"type": "Account"}, **r} for r in tree[first : first + 200]
            ],
        },
    )
    case("a collection answers for each record", all(r["success"] for r in results))
pages = sf.query_all_iter(
    "SELECT Name FROM Account WHERE Name LIKE 'Paged%' ORDER BY Name",
    headers={"Sforce-Query-Options": "batchSize=200"},
)
case("query_all_iter walks three pages", [r["Name"] for r in pages] == [r["Name"] for r in tree])

try:
    sf.query("SELECT Nothing FROM Account")
    case("an unknown field is refused", False)
except SalesforceMalformedRequest as error:
    case("an unknown field is INVALID_FIELD", error.content[0]["errorCode"] == "INVALID_FIELD")

case("delete answers 204", sf.Contact.delete(contact["id"]) == 204)
try:
    sf.Contact.get(contact["id"])
    case("a deleted record is gone", False)
except SalesforceResourceNotFound:
    case("a deleted record is gone", True)

print(f"simple-salesforce: {passed} cases hold")
