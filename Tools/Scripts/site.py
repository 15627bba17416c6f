#!/usr/bin/env python3
"""Builds the documentation site from what `swift build` left, the catalogs and the pages of Docs.

    Tools/Scripts/site.py            writes .build-docs/site; any warning fails
    Tools/Scripts/site.py --check    checks the catalogs alone, in a second: every library has one, every guide is
                                     in exactly one

A catalog is a folder `NAME.docc`: of a module beside its sources, of the package at Docs/Fieldforce.docc. Each text has
one source. The pages of Docs stay plain Markdown, with links that work in any reader; a comment in a landing page
says where they appear in the site:

    <!-- Guides: SmartStore, Smart-SQL, Decisions/* -->

names a group of topics and its pages, below Docs/Guides or Docs. This script copies the catalogs to .build-docs and
puts the pages in, with their links and images in DocC's form, and `Name` in code as a link if a module has such a type.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

root = pathlib.Path(__file__).resolve().parents[2]
docs = root / "Docs"
work = root / ".build-docs"
group = re.compile(r"^<!-- ([A-Z][\w ]*): ([\w/,* \n-]+) -->$", re.M)
fence = re.compile(r"^```.*?^```[^\n]*$", re.M | re.S)
link = re.compile(r"(!?)\[((?:[^\[\]]|`[^`]*`)*)\]\(([^)\s]+)\)")
heading = re.compile(r"^#+ (.*)$", re.M)


class Catalog:
    """A folder of documentation, and the pages of Docs that its landing page names."""

    def __init__(self, folder):
        self.folder = folder
        self.name = folder.stem
        self.landing = (folder / f"{folder.stem}.md").read_text()
        self.groups = [(title, [page for name in names.split(",") for page in pages(name.strip())])
                       for title, names in group.findall(self.landing)]
        self.pages = [page for _, found in self.groups for page in found]
        self.types = set()

    def article(self, page):
        """The name of a page in this catalog; the module itself or one of its types may have its file's name."""
        stem = page.parent.name if page.stem == "README" else page.stem
        return f"Using-{stem}" if stem.lower() in {name.lower() for name in {self.name, *self.types}} else stem


def pages(name):
    """The pages that a name in a landing page stands for."""
    if name.endswith("/*"):
        return sorted((docs / name[:-2]).glob("*.md"))
    found = [path for path in (docs / "Guides" / f"{name}.md", docs / f"{name}.md") if path.exists()]
    if not found:
        sys.exit(f"A catalog names the page {name}, which Docs does not have. Correct the comment in its landing page.")
    return found[:1]


def catalogs():
    found = [folder for place in ("Modules", "Plugins", "Testing", "Docs")
             for folder in sorted((root / place).rglob("*.docc"))]
    return {folder.stem: Catalog(folder) for folder in found}


def check(all_catalogs):
    """What is missing or said twice, one sentence each."""
    manifest = (root / "Package.swift").read_text()
    for library in re.findall(r'\.library\(name: "(\w+)"', manifest):
        if library not in all_catalogs:
            yield f"The library {library} has no catalog. Add {library}.docc/{library}.md beside its sources."
    owners = {}
    for catalog in all_catalogs.values():
        for page in catalog.pages:
            owners.setdefault(page, []).append(catalog.name)
    for page in sorted((docs / "Guides").glob("*.md")):
        if page not in owners:
            yield f"{page.relative_to(root)} is in no catalog. Name it in the landing page of its module's catalog."
    for page, names in owners.items():
        if len(names) > 1:
            yield f"{page.relative_to(root)} is in several catalogs ({', '.join(names)}). Name it in one."


def run(*command):
    done = subprocess.run([str(part) for part in command], cwd=root, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{done.stdout}{done.stderr}\nerror: {command[0]} {command[1]} failed for the documentation.")
    return done.stdout


def dependencies():
    """The targets of this package that each target needs, directly or through others."""
    targets = {target["name"]: [
        next(iter(need.values()))[0] for need in target["dependencies"]
    ] for target in json.loads(run("swift", "package", "dump-package"))["targets"]}
    closed = {}

    def close(name):
        if name not in closed:
            closed[name] = set()
            for need in targets.get(name, []):
                if need in targets:
                    closed[name] |= {need} | close(need)
        return closed[name]

    for name in targets:
        close(name)
    return closed


def extraction():
    """The options with which the compiler finds the modules that were built."""
    built = root / ".build/debug"
    maps = [*(root / ".build/checkouts").glob("*/Sources/**/module.modulemap"), *built.glob("*.build/module.modulemap"),
            *(root / "Modules").glob("*/module.modulemap"), *(root / "Plugins").glob("*/*/module.modulemap")]
    target = json.loads(run("swift", "-print-target-info"))["target"]["unversionedTriple"]
    return ["-target", target, "-I", built / "Modules", "-Xcc", f"-I{run('pg_config', '--includedir').strip()}",
            *[part for path in maps for part in ("-Xcc", f"-fmodule-map-file={path}")]]


def extract(module, options):
    """Writes the public symbols of a built module, and returns the names of its types."""
    folder = work / "symbols" / module
    folder.mkdir(parents=True)
    run("swift", "symbolgraph-extract", "-module-name", module, *options, "-minimum-access-level", "public",
        "-skip-synthesized-members", "-emit-extension-block-symbols", "-output-dir", folder)
    graph = json.loads((folder / f"{module}.symbols.json").read_text())
    return {symbol["pathComponents"][0] for symbol in graph["symbols"]
            if len(symbol["pathComponents"]) == 1 and "func" not in symbol["kind"]["identifier"]}


def link_types(folder, types):
    """Lets ``Name`` in comments lead to a type of another module: DocC looks for it in the comment's own alone."""

    def target(match):
        path = types.get(match[1], "")
        return f"``{path}{match[2]}``" if path.startswith("/") else match[0]

    for path in folder.glob("*.json"):
        graph = json.loads(path.read_text())
        for symbol in graph["symbols"]:
            for line in symbol.get("docComment", {}).get("lines", []):
                line["text"] = re.sub(r"``([A-Z]\w+)((?:/[^`]+)?)``", target, line["text"])
        path.write_text(json.dumps(graph))


def anchors(page):
    """The anchors of a page's headings: as on GitHub, to those of DocC."""
    found = {}
    for title in heading.findall(fence.sub("", page.read_text())):
        slug = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        found[slug] = re.sub(r"[^\w\- ]", "", title).strip().replace(" ", "-")
    return found


def convert(page, catalog, below, owners, types, output):
    """Writes a page of Docs as an article of a catalog that may link to those `below` it."""

    def lead(match, in_summary):
        image, text, target = match.groups()
        if re.match(r"[a-z]+:", target):
            return match[0]
        name, _, anchor = urllib.parse.unquote(target).partition("#")
        path = (page.parent / name).resolve() if name else page
        if image:
            # DocC knows no WebP by its name; browsers look at the bytes of an image.
            copy = path.with_suffix(".png").name if path.suffix == ".webp" else path.name
            shutil.copy(path, output / copy)
            return f"![{text}]({copy})"
        owner = owners.get(path) or owners.get(path / "README.md")
        if not owner:
            place = f"`{path.relative_to(root)}`"
            return place if text.strip("`") == place.strip("`") else f"{text} ({place})"
        if path.is_dir():
            path = path / "README.md"
        fragment = "#" + anchors(path)[anchor] if anchor else ""
        article = owner.article(path)
        if owner is catalog:
            return f"[{text}](doc:{article}{fragment})"
        if owner.name in below and not fragment:
            return f"[{text}](doc:/{owner.name}/{article}{fragment})"
        # DocC resolves neither headings nor pages above; in a page's summary it loses the text of such a link.
        if in_summary:
            return text
        return f"[{text}](/documentation/{owner.name.lower()}/{article.lower()}{fragment})"

    def symbol(match):
        name = match[1]
        return f"``{types[name]}``" if name in types else match[0]

    def prose(text, in_summary=False):
        text = re.sub(r'<img src="([^"]*)" alt="([^"]*)"[^>]*>', r"![\2](\1)", text)
        lines = []
        for line in text.split("\n"):
            if not line.startswith(("#", "    ")):
                # A code span within the text of a link stays as it is.
                parts = re.split(r"(\[(?:[^\[\]]|`[^`]*`)*\]\([^)\s]+\)|``[^`]+``)", line)
                line = "".join(part if index % 2 else re.sub(r"`([A-Z]\w+)`", symbol, part)
                               for index, part in enumerate(parts))
            lines.append(line)
        return link.sub(lambda match: lead(match, in_summary), "\n".join(lines))

    text = page.read_text()
    # The title, and the paragraph behind it.
    end = text.find("\n\n", text.find("\n\n") + 2)
    parts = [prose(text[:end], in_summary=True)]
    for match in fence.finditer(text):
        parts += [prose(text[end:match.start()]), match[0]]
        end = match.end()
    parts.append(prose(text[end:]))
    (output / f"{catalog.article(page)}.md").write_text("".join(parts))


def assemble(catalog, below, owners, types):
    """Copies a catalog with its pages, and returns the copy."""
    output = work / "catalogs" / catalog.folder.name
    shutil.copytree(catalog.folder, output)

    def topics(match):
        title, found = next((title, found) for title, found in catalog.groups if title == match[1])
        return "\n".join([f"### {title}", "", *(f"- <doc:{catalog.article(page)}>" for page in found)])

    (output / f"{catalog.name}.md").write_text(group.sub(topics, catalog.landing))
    for text in [path.read_text() for path in output.rglob("*.md")]:
        for _, _, name in link.findall(text):
            if (docs / "Diagrams" / name).is_file():
                shutil.copy(docs / "Diagrams" / name, output / name)
    for page in catalog.pages:
        convert(page, catalog, below, owners, types, output)
    return output


def walk(value):
    """The objects of a page, outside in."""
    if isinstance(value, dict):
        yield value
        for part in value.values():
            yield from walk(part)
    elif isinstance(value, list):
        for part in value:
            yield from walk(part)


def missing(page):
    """The links of a page that it does not say the text of."""
    return {node["identifier"] for node in walk(page)
            if node.get("type") == "reference"} - page.get("references", {}).keys()


def broken(site):
    """Fills gaps in the site, and yields the links and images that lead nowhere, one sentence each."""
    data = site / "data"
    found = {}
    for path in sorted(data.rglob("*.json")):
        found["/" + str(path.relative_to(data).with_suffix(""))] = json.loads(path.read_text())
    # DocC leaves out the links in the summaries of other pages that a page lists: the sentence would have a gap.
    texts = {key: value for page in found.values() for key, value in page.get("references", {}).items()
             if value["type"] == "topic"}
    for url, page in found.items():
        repaired = False
        while gaps := missing(page) & texts.keys():
            page["references"].update({key: texts[key] for key in gaps})
            repaired = True
        if repaired:
            (data / f"{url[1:]}.json").write_text(json.dumps(page))

    named = {url: {node["anchor"] for node in walk(page) if isinstance(node.get("anchor"), str)}
             for url, page in found.items()}
    for url, page in found.items():
        for identifier in sorted(missing(page)):
            yield f"{url}: the link {identifier} has no text."
        for node in walk(page):
            kind = node.get("type")
            targets = []
            if kind in ("link", "topic", "section"):
                targets = [node.get("url", ""), node.get("destination", "")]
            elif kind == "image":
                for variant in node.get("variants", []):
                    if not (site / variant["url"].lstrip("/")).exists():
                        yield f"{url}: the image {variant['url']} is missing."
            for target in targets:
                path, _, anchor = urllib.parse.unquote(target).partition("#")
                if re.match(r"[a-z]+:", target) or not target:
                    continue
                if path.lower() not in found:
                    yield f"{url}: the link {target} leads nowhere."
                elif anchor and anchor not in named[path.lower()]:
                    yield f"{url}: the link {target} leads to no heading."


def main():
    all_catalogs = catalogs()
    problems = list(check(all_catalogs))
    if not problems and "--check" not in sys.argv:
        problems = build(all_catalogs)
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


def build(all_catalogs):
    shutil.rmtree(work, ignore_errors=True)
    needs = dependencies()
    modules = [name for name in all_catalogs if name in needs]
    options = extraction()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        types = dict(zip(modules, pool.map(lambda module: extract(module, options), modules)))
    for module in modules:
        all_catalogs[module].types = types[module]
    owners = {page: catalog for catalog in all_catalogs.values() for page in catalog.pages}
    archives = {}

    def document(name):
        """Builds one archive. Those that it depends on are there."""
        below = sorted(needs[name] & set(modules)) if name in needs else modules
        known = {}
        for module in below:
            for type in types[module]:
                known[type] = None if type in known else f"/{module}/{type}"
        known |= {type: type for type in types.get(name, [])}
        # SmartStore is also the name of a class.
        known |= {module: f"/{module}" for module in below}
        known = {key: path for key, path in known.items() if path}
        link_types(work / "symbols" / name, {type: path for type, path in known.items() if type not in modules})
        # Where a module extends types of another one, DocC looks for that one's articles in the extensions.
        extended = {module for module in below if (work / "symbols" / name / f"{name}@{module}.symbols.json").exists()}
        catalog = assemble(all_catalogs[name], [module for module in below if module not in extended], owners, known)
        archive = work / "archives" / f"{name}.doccarchive"
        archive.parent.mkdir(exist_ok=True)
        graphs = ("--additional-symbol-graph-dir", work / "symbols" / name) if name in needs else ()
        # Comments name the parameters that need a word, and no others: no warning for the rest.
        run("docc", "convert", catalog, *graphs, "--output-path", archive, "--fallback-display-name", name,
            "--fallback-bundle-identifier", name, "--fallback-default-module-kind", "Module", "--warnings-as-errors",
            "--disable-parameters-and-returns-validation", "--enable-experimental-external-link-support",
            *[part for module in below for part in ("--dependency", archives[module])])
        return archive

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        waiting = list(all_catalogs)
        while waiting:
            ready = [name for name in waiting
                     if (needs[name] & set(modules) if name in needs else set(modules)) <= archives.keys()]
            for name, archive in zip(ready, pool.map(document, ready)):
                archives[name] = archive
            waiting = [name for name in waiting if name not in archives]
    site = work / "site"
    run("docc", "merge", *archives.values(), "--output-path", site, "--synthesized-landing-page-name", "Fieldforce")
    # The address of the site itself leads to the landing page of the package.
    (site / "index.html").write_text(
        '<!doctype html><meta charset="utf-8"><title>Fieldforce</title>'
        '<meta http-equiv="refresh" content="0; url=documentation/fieldforce/">'
        '<a href="documentation/fieldforce/">Fieldforce</a>\n')
    print(f"{len(archives)} catalogs, {sum(1 for _ in (site / 'data').rglob('*.json'))} pages: {site}")
    return list(broken(site))


if __name__ == "__main__":
    sys.exit(main())
