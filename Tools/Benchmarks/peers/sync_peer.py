"""simple-salesforce's query_all into Python's sqlite3, plain text, with a soup's schema and indexes.

Prints the seconds of the whole way: query, parse, project, insert, commit. With "again" as second
argument that is the way of a second time, when the table has all records.
"""

import json
import os
import sqlite3
import sys
import tempfile
import time

from simple_salesforce import Salesforce

from plain_http import session

host = sys.argv[1].removeprefix("http://")
sf = Salesforce(instance_url=f"https://{host}", session_id="replay", session=session())

folder = tempfile.mkdtemp()
db = sqlite3.connect(os.path.join(folder, "peer.sqlite"))
db.executescript(
    """
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    PRAGMA cache_size = -65536;
    CREATE TABLE TABLE_1 (id INTEGER PRIMARY KEY AUTOINCREMENT, soup TEXT, created INTEGER,
      lastModified INTEGER, TABLE_1_0 TEXT, TABLE_1_1 TEXT, TABLE_1_2 TEXT, TABLE_1_3 INTEGER,
      TABLE_1_4 REAL);
    CREATE INDEX TABLE_1_created_idx ON TABLE_1 ( created );
    CREATE INDEX TABLE_1_lastModified_idx ON TABLE_1 ( lastModified );
    CREATE INDEX TABLE_1_0_idx ON TABLE_1 ( TABLE_1_0 );
    CREATE INDEX TABLE_1_1_idx ON TABLE_1 ( TABLE_1_1 );
    CREATE INDEX TABLE_1_2_idx ON TABLE_1 ( TABLE_1_2 );
    CREATE INDEX TABLE_1_3_idx ON TABLE_1 ( TABLE_1_3 );
    CREATE INDEX TABLE_1_4_idx ON TABLE_1 ( TABLE_1_4 );
    """
)

INSERT = (
    "INSERT INTO TABLE_1 (soup, created, lastModified, TABLE_1_0, TABLE_1_1, TABLE_1_2,"
    " TABLE_1_3, TABLE_1_4) VALUES (:soup, :now, :now, :id, :name, '0', :employees, :revenue)"
)
UPDATE = (
    "UPDATE TABLE_1 SET soup = :soup, lastModified = :now, TABLE_1_1 = :name, TABLE_1_2 = '0',"
    " TABLE_1_3 = :employees, TABLE_1_4 = :revenue WHERE TABLE_1_0 = :id"
)


def sync_down(statement):
    records = sf.query_all("SELECT Id, Name FROM Account")["records"]
    now = int(time.time() * 1000)
    for first in range(0, len(records), 2000):
        with db:
            db.executemany(
                statement,
                [
                    {
                        "soup": json.dumps(r, separators=(",", ":")),
                        "now": now,
                        "id": r["Id"],
                        "name": r["Name"],
                        "employees": r["NumberOfEmployees"],
                        "revenue": r["AnnualRevenue"],
                    }
                    for r in records[first : first + 2000]
                ],
            )


statement = INSERT
if sys.argv[2:] == ["again"]:
    sync_down(INSERT)
    statement = UPDATE
start = time.perf_counter()
sync_down(statement)
seconds = time.perf_counter() - start
stored = db.execute("SELECT count(*) FROM TABLE_1").fetchone()[0]
print(json.dumps({"seconds": seconds, "records": stored}))
