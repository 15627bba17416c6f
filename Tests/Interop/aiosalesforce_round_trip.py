"""aiosalesforce, unmodified, against a running mock org.

Reads the server's connection document (the first line of `fieldforce org serve`) from standard input.
"""

import asyncio
import json
import sys
import tempfile

import httpx
from aiosalesforce import Salesforce
from aiosalesforce.auth import ClientCredentialsFlow, JwtBearerFlow, SoapLogin
from aiosalesforce.exceptions import NotFoundError, SalesforceError
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from plain_loopback import Cases

org = json.loads(sys.stdin.readline())
case = Cases()
base = "https://fieldforce.my.salesforce.com"


class PlainLoopback(httpx.AsyncBaseTransport):
    """Leads every request to the mock org."""

    def __init__(self):
        self.inner = httpx.AsyncHTTPTransport()

    async def handle_async_request(self, request):
        target = httpx.URL(org["url"])
        request.url = request.url.copy_with(
            scheme=target.scheme, host=target.host, port=target.port
        )
        request.headers["Host"] = target.netloc.decode()
        return await self.inner.handle_async_request(request)


def connect(auth):
    return Salesforce(
        httpx.AsyncClient(transport=PlainLoopback()), base_url=base, auth=auth, version="62.0"
    )


async def logins():
    sf = connect(SoapLogin(org["username"], org["password"], "TOKEN"))
    case("a login by SOAP works", "DailyApiRequests" in await sf.get_limits())
    sf = connect(ClientCredentialsFlow(org["clientId"], org["clientSecret"]))
    case("a login by client credentials works", "DailyApiRequests" in await sf.get_limits())
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    with tempfile.NamedTemporaryFile() as file:
        file.write(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        file.flush()
        sf = connect(JwtBearerFlow(org["clientId"], org["username"], file.name))
        case("a login by JWT works", "DailyApiRequests" in await sf.get_limits())
    return sf


async def records(sf):
    new = await sf.sobject.create("Account", {"Name": "Aio", "NumberOfEmployees": 3})
    read = await sf.sobject.get("Account", new, fields=["Name", "NumberOfEmployees"])
    case("get returns what was created", read["NumberOfEmployees"] == 3)
    await sf.sobject.update("Account", new, {"Name": "Aio changed"})
    rows = [r async for r in sf.query(f"SELECT Name FROM Account WHERE Id = '{new}'")]
    case("query sees the update", rows[0]["Name"] == "Aio changed")
    await sf.sobject.delete("Account", new)
    try:
        await sf.sobject.get("Account", new)
        case("a deleted record is gone", False)
    except NotFoundError:
        case("a deleted record is gone", True)
    rows = [r async for r in sf.query(f"SELECT Id FROM Account WHERE Id = '{new}'", include_all_records=True)]
    case("queryAll still has it", len(rows) == 1)
    try:
        await sf.sobject.create("Account", {"Nope": 1})
        case("an unknown field is refused", False)
    except SalesforceError as error:
        case("an unknown field is INVALID_FIELD", error.error_code == "INVALID_FIELD")


    first = await sf.sobject.upsert("Job__c", "A-1", "Key__c", {"Name": "aio", "Hours__c": 1})
    again = await sf.sobject.upsert("Job__c", "A-1", "Key__c", {"Hours__c": 2})
    case("upsert creates, then finds", first.created and not again.created and first.id == again.id)
    job = await sf.sobject.get("Job__c", "A-1", "Key__c", fields=["Name", "Hours__c"])
    case("get reads by a key", job["Name"] == "aio" and job["Hours__c"] == 2)
    await sf.sobject.delete("Job__c", "A-1", "Key__c")
    case("delete removes by a key", not [r async for r in sf.query("SELECT Id FROM Job__c WHERE Key__c = 'A-1'")])


async def composites(sf):
    async with sf.composite(all_or_none=True) as composite:
        account = composite.sobject.create("Account", {"Name": "Parent"})
        contact = composite.sobject.create(
            "Contact", {"LastName": "Child", "AccountId": str(account.reference.id)}
        )
    case("a composite request refers to its own answers", contact.status_code == 201)
    async with sf.composite(all_or_none=True, autoraise=False) as composite:
        good = composite.sobject.create("Account", {"Name": "Undone"})
        bad = composite.sobject.create("Contact", {"FirstName": "nameless"})
        after = composite.query("SELECT Id FROM Account")
    case("all or none: the bad one says why", bad.response_body[0]["errorCode"] == "REQUIRED_FIELD_MISSING")
    halted = [r.response_body[0]["errorCode"] for r in (good, after)]
    case("all or none: the others are halted", halted == ["PROCESSING_HALTED"] * 2)
    undone = [r async for r in sf.query("SELECT Id FROM Account WHERE Name = 'Undone'")]
    case("all or none: nothing is left", not undone)
    async with sf.composite.batch(halt_on_error=False) as batch:
        query = batch.query("SELECT Account.Name FROM Contact WHERE LastName = 'Child'")
        bad = batch.query("SELECT Nope FROM Contact")
    case("a batch answers for each request", query.status_code == 200)
    case("one that fails fails alone", bad.status_code == 400)


async def bulk(sf):
    data = [{"LastName": f"Ingest {i}"} for i in range(250)] + [{"FirstName": "x"}]
    result = await sf.bulk_v2.insert("Contact", data)
    case("an ingest job has its good rows", len(result.successful_results) == 250)
    case("and its bad ones", len(result.failed_results) == 1)
    ids = [{"Id": r["sf__Id"]} for r in result.successful_results]
    gone = await sf.bulk_v2.delete("Contact", ids)
    case("a delete job removes them", len(gone.successful_results) == 250)
    rows = [{"Key__c": f"C-{i}", "Name": "aio", "Hours__c": i} for i in range(20)]
    made = await sf.bulk_v2.upsert("Job__c", rows, "Key__c")
    case("an upsert job makes records", all(r["sf__Created"] == "true" for r in made.successful_results))
    found = await sf.bulk_v2.upsert("Job__c", rows, "Key__c")
    case("another finds them", all(r["sf__Created"] == "false" for r in found.successful_results))
    rows = [{"Id": r["sf__Id"], "Hours__c": 9} for r in found.successful_results]
    changed = await sf.bulk_v2.update("Job__c", rows)
    case("an update job changes them", len(changed.successful_results) == 20)
    jobs = [job async for job in sf.bulk_v2.ingest.list_jobs()]
    case("jobs are listed", len(jobs) >= 2)


async def main():
    sf = await logins()
    await records(sf)
    await composites(sf)
    await bulk(sf)
    print(f"aiosalesforce: {case.passed} cases hold")


asyncio.run(main())
