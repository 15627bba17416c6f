"""The resources of simple-salesforce beyond single records, unmodified, against a running mock org.

Reads the server's connection document (the first line of `fieldforce org serve`) from standard input.
"""

import base64
import csv
import datetime
import io
import json
import sys
import tempfile

from plain_loopback import Cases, session
from simple_salesforce import Salesforce
from simple_salesforce.exceptions import SalesforceMalformedRequest

org = json.loads(sys.stdin.readline())
case = Cases()
sf = Salesforce(
    instance_url=org["instanceUrl"].replace("http://", "https://"),
    session_id=org["accessToken"],
    session=session(org["url"]),
    version="62.0",
)

# Search, descriptions, limits.
made = sf.Account.create({"Name": "Interop Harbor"})
found = sf.search("FIND {Harbor} IN ALL FIELDS RETURNING Account(Id, Name)")
case("search finds a record", made["id"] in [r["Id"] for r in found["searchRecords"]])
case("quick_search finds it too", len(sf.quick_search("Harbor")["searchRecords"]) >= 1)
layout = sf.Account.describe_layout("012000000000000AAA")
case("describe_layout has sections", len(layout["detailLayoutSections"]) > 0)
case("metadata knows recent items", "recentItems" in sf.Account.metadata())
case("limits count requests", sf.limits()["DailyApiRequests"]["Remaining"] < 15000)

# Changes in a window of time.
gone = sf.Account.create({"Name": "Interop gone"})
sf.Account.delete(gone["id"])
now = datetime.datetime.now(datetime.timezone.utc)
start, end = now - datetime.timedelta(hours=1), now + datetime.timedelta(minutes=2)
case("updated names the new record", made["id"] in sf.Account.updated(start, end)["ids"])
deleted = sf.Account.deleted(start, end)["deletedRecords"]
case("deleted names the removed one", gone["id"] in [d["id"] for d in deleted])

# Files.
version = sf.ContentVersion.create(
    {
        "Title": "A file",
        "PathOnClient": "a.txt",
        "VersionData": base64.b64encode(b"content of a file").decode(),
    }
)
content = sf.ContentVersion.get_base64(version["id"], base64_field="VersionData")
case("get_base64 reads a file", content == b"content of a file")
attachment = sf.Attachment.create({"ParentId": made["id"], "Name": "a.txt", "Body": "eA=="})
with tempfile.NamedTemporaryFile(suffix=".txt") as file:
    file.write(b"new content")
    file.flush()
    case("update_base64 answers 204", sf.Attachment.update_base64(attachment["id"], file.name) == 204)
content = sf.Attachment.get_base64(attachment["id"])
case("get_base64 reads what it wrote", content == b"new content")

# Bulk API 1.
rows = [{"LastName": f"Bulk {i:03d}"} for i in range(120)] + [{"FirstName": "nameless"}]
results = sf.bulk.Contact.insert(rows, batch_size=50, use_serial=True)
case("bulk insert answers for each row", len(results) == 121)
case("a row that breaks a rule fails alone", [r["success"] for r in results].count(False) == 1)
case("its error is told", results[-1]["errors"][0]["statusCode"] == "REQUIRED_FIELD_MISSING")
queried = sf.bulk.Contact.query("SELECT Id, LastName FROM Contact WHERE LastName LIKE 'Bulk%'")
case("bulk query finds the rows", len(queried) == 120)
changes = [{"Id": r["Id"], "FirstName": "B"} for r in queried]
case("bulk update changes them", all(r["success"] for r in sf.bulk.Contact.update(changes)))
removed = sf.bulk.Contact.delete([{"Id": r["Id"]} for r in queried[:20]])
case("bulk delete removes some", all(r["success"] for r in removed))
upserted = sf.bulk.Contact.upsert(
    [{"Id": queried[30]["Id"], "LastName": "Changed"}], external_id_field="Id"
)
case("bulk upsert finds its record", upserted[0]["success"] and not upserted[0]["created"])

# Bulk API 2.
two = sf.bulk2.Contact.insert(records=[{"LastName": "Two 1"}, {"LastName": "Two 2"}, {"FirstName": "x"}])
case("bulk2 counts what it did", two[0]["numberRecordsProcessed"] == 3)
case("bulk2 counts what failed", two[0]["numberRecordsFailed"] == 1)
failed = sf.bulk2.Contact.get_failed_records(two[0]["job_id"])
case("bulk2 shows why", "REQUIRED_FIELD_MISSING" in failed)
good = sf.bulk2.Contact.get_successful_records(two[0]["job_id"])
ids = [row["sf__Id"] for row in csv.DictReader(io.StringIO(good))]
case("bulk2 gives the new ids", len(ids) == 2 and all(i.startswith("003") for i in ids))
pages = list(sf.bulk2.Contact.query("SELECT Id, LastName FROM Contact ORDER BY LastName", max_records=60))
lines = [row for page in pages for row in csv.DictReader(io.StringIO(page))]
total = sf.query("SELECT COUNT() FROM Contact")["totalSize"]
case("bulk2 query gives pages", len(pages) > 1 and len(lines) == total)
sf.bulk2.Contact.delete(records=[{"Id": i} for i in ids])
left = sf.query("SELECT COUNT() FROM Contact WHERE LastName LIKE 'Two%'")["totalSize"]
case("bulk2 delete removes them", left == 0)
try:
    list(sf.bulk2.Contact.query("SELECT Nothing FROM Contact"))
    case("bulk2 refuses an unknown field", False)
except SalesforceMalformedRequest as error:
    case("bulk2 refuses an unknown field", "INVALID_FIELD" in str(error.content))

# Upsert by an external id, in each form.
key = sf.User.get_by_custom_id("Username", org["username"])
case("a record is found by another id", key["Id"] == org["userId"])
case("upsert creates", sf.Job__c.upsert("Key__c/J-1", {"Name": "one", "Hours__c": 2.5}) == 201)
case("upsert finds what it made", sf.Job__c.upsert("Key__c/J-1", {"Hours__c": 3}) == 200)
job = sf.Job__c.get_by_custom_id("Key__c", "J-1")
case("the upserted record has both", job["Name"] == "one" and job["Hours__c"] == 3.0)
sf.Job__c.upsert(f"Id/{job['Id']}", {"Account__c": made["id"]})
parent = sf.query(
    "SELECT Name, (SELECT Key__c FROM Jobs__r) FROM Account WHERE Name = 'Interop Harbor'"
)
case("children are found by their relationship", parent["records"][0]["Jobs__r"]["totalSize"] == 1)
try:
    sf.Job__c.create({"Key__c": "J-1"})
    case("a key is unique", False)
except SalesforceMalformedRequest as error:
    case("a key is unique", error.content[0]["errorCode"] == "DUPLICATE_VALUE")
rows = [{"Key__c": f"B {i}", "Name": "bulk", "Hours__c": i} for i in range(30)]
upserted = sf.bulk.Job__c.upsert(rows, external_id_field="Key__c")
case("bulk upsert creates by a key", all(r["created"] for r in upserted))
upserted = sf.bulk2.Job__c.upsert(records=[{**r, "Name": "two"} for r in rows], external_id_field="Key__c")
case("bulk2 upsert finds them", upserted[0]["numberRecordsFailed"] == 0)
left = sf.query("SELECT COUNT() FROM Job__c WHERE Name = 'two'")["totalSize"]
case("and changes them", left == 30)
changed = sf.bulk2.Job__c.update(records=[{"Id": job["Id"], "Hours__c": 4}])
case("bulk2 update changes one", changed[0]["numberRecordsProcessed"] == 1)
results = sf.bulk.Job__c.query_all("SELECT Id FROM Job__c", lazy_operation=True)
case("bulk query_all in pages finds them", sum(len(page) for page in results) == 31)

print(f"simple-salesforce resources: {case.passed} cases hold")
