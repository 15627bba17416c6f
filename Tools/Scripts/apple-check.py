#!/usr/bin/env python3
"""Type-checks on Linux what the libraries compile on Apple systems only.

    Tools/Scripts/apple-check.py            every module below, as on macOS, after `swift build`; as on iOS too where
                                            the sources differ

The conditions for Apple's platforms are made true in a copy of the sources, and stub modules in the scratch folder
declare what those branches use of Apple's systems beyond Linux. So a misspelled name, a wrong type or a branch that
was forgotten in a change is found here. What this cannot find: how Apple's frameworks behave, and declarations
that differ from the stubs. Each stub says where Apple documents what it declares.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parents[2]
modules = {
    "SalesforceSDKCommon": "Modules/Common",
    "SalesforceSDKCore": "Modules/Core",
    "SmartStore": "Modules/SmartStore",
    "MobileSync": "Modules/MobileSync",
    "LoopbackLogin": "Plugins/Login/LoopbackLogin",
    "PeerSocket": "Plugins/Servers/PeerSocket",
    "IdentityLogin": "Plugins/Login/IdentityLogin",
    "LocalServer": "Plugins/Servers/LocalServer",
    "HybridServer": "Plugins/Servers/HybridServer",
    "PushRelay": "Plugins/Servers/PushRelay",
    "PostgresAccounts": "Plugins/Servers/PostgresAccounts",
    "SystemAuthentication": "Plugins/Desktop/SystemAuthentication",
    "FileSync": "Plugins/FileSync",
}

# D-Bus is the bus of Linux desktops; on Apple systems its client is compiled, but nothing there answers it.
unchecked = ["Plugins/Desktop/DBusClient", "Plugins/Desktop/SecretService"]

stubs = {
    # fcntl(2), stat(2), arc4random(3) and sysctl(3) of macOS; C headers of Apple import pointers as implicitly unwrapped.
    "Darwin": """
@_exported import Glibc
public let F_FULLFSYNC: Int32 = 51
extension stat { public var st_mtimespec: timespec { st_mtim } }
public func arc4random_buf(_ buffer: UnsafeMutableRawPointer!, _ count: Int) {}
public func sysctlbyname(
  _ name: UnsafePointer<CChar>!, _ old: UnsafeMutableRawPointer!, _ oldLength: UnsafeMutablePointer<Int>!,
  _ new: UnsafeMutableRawPointer!, _ newLength: Int
) -> Int32 { 0 }
""",
    # LAContext, LAPolicy and LAError in Apple's documentation of LocalAuthentication.
    "LocalAuthentication": """
public import Foundation
public enum LAPolicy: Int { case deviceOwnerAuthentication = 2 }
public struct LAError: Error {
  public enum Code: Int { case authenticationFailed, userCancel, systemCancel, appCancel, passcodeNotSet }
  public var code: Code { .authenticationFailed }
}
public final class LAContext {
  public init() {}
  public func canEvaluatePolicy(_ policy: LAPolicy, error: UnsafeMutablePointer<NSError?>?) -> Bool { false }
  public func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool { false }
}
""",
    # URLSessionConfiguration and Stream in Apple's documentation of Foundation.
    "AppleNetworking": """
public import Foundation
@_exported import FoundationNetworking
public enum tls_protocol_version_t: Sendable { case TLSv12, TLSv13 }
extension URLSessionConfiguration {
  public var tlsMinimumSupportedProtocolVersion: tls_protocol_version_t {
    get { .TLSv12 }
    set {}
  }
  public var waitsForConnectivity: Bool {
    get { false }
    set {}
  }
}
extension Stream {
  public static func getBoundStreams(
    withBufferSize bufferSize: Int, inputStream: UnsafeMutablePointer<InputStream?>?,
    outputStream: UnsafeMutablePointer<OutputStream?>?
  ) {}
}
""",
}


def is_true(system):
    """What the conditions of a system are there."""
    values = {f"os({name})": name == system for name in ("Linux", "macOS", "iOS", "tvOS", "watchOS", "visionOS")}
    values |= {f"canImport({name})": name in ("Darwin", "LocalAuthentication")
               for name in ("Darwin", "LocalAuthentication", "Glibc", "Musl")}
    # Apple's Foundation holds both, and neither can be imported there.
    values |= {"canImport(FoundationEssentials)": False, "canImport(FoundationNetworking)": False}
    return values


def as_on(system, text):
    """A source file with the conditions of a system, and with what Foundation brings there."""
    for condition, value in is_true(system).items():
        text = text.replace(condition, "true" if value else "false")
    return re.sub(
        r"^([ \t]*)((?:public |package |internal )?)import Foundation$",
        r"\1\2import Foundation; \2import Darwin; \2import AppleNetworking",
        text,
        flags=re.MULTILINE,
    )


def compiler_arguments(module):
    """How the package manager calls the compiler for a module, without what a check does not need."""
    manifest = (root / ".build/debug.yaml").read_text()
    found = re.search(rf'^  "C\.{module}-[^"]*-debug\.module":.*?^    args: (\[.*?\])$', manifest, re.M | re.S)
    if not found:
        sys.exit(f"apple-check: {module} was not built: run 'swift build' first")
    arguments = iter(re.findall(r'"((?:[^"\\]|\\.)*)"', found[1]))
    kept = []
    for argument in arguments:
        if argument in (
            "-emit-module-path", "-output-file-map", "-index-store-path", "-emit-objc-header-path", "-Werror",
            "-Wwarning",
        ):
            next(arguments)
        elif argument in (
            "-emit-dependencies", "-emit-module", "-incremental", "-c", "-parseable-output", "-emit-objc-header",
            "-serialize-diagnostics", "-enable-batch-mode", "-warnings-as-errors",
        ) or argument.startswith("@"):
            continue
        else:
            kept.append(argument)
    return kept


def main():
    failed = False
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        for name, text in stubs.items():
            source = scratch / f"{name}.swift"
            source.write_text(text)
            subprocess.run(
                ["swiftc", "-emit-module", "-module-name", name, "-parse-as-library", "-enable-upcoming-feature",
                 "InternalImportsByDefault", "-I", scratch, "-o", scratch / f"{name}.swiftmodule", source],
                check=True,
            )
        for module, folder in modules.items():
            paths = sorted((root / folder).rglob("*.swift"))
            # Resources are reached through a file that the build makes.
            paths += (root / ".build/debug" / f"{module}.build/DerivedSources").glob("*.swift")
            sources = {system: {path: as_on(system, path.read_text()) for path in paths} for system in ("macOS", "iOS")}
            systems = ["macOS"] if sources["macOS"] == sources["iOS"] else ["macOS", "iOS"]
            for system in systems:
                files = []
                for path, text in sources[system].items():
                    copy = scratch / system / path.relative_to(root)
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    copy.write_text(text)
                    files.append(copy)
                check = subprocess.run(
                    [*compiler_arguments(module), "-I", scratch, "-suppress-warnings", "-typecheck", *files],
                    capture_output=True,
                    text=True,
                )
                if check.returncode:
                    failed = True
                    print(check.stderr.replace(f"{scratch}/{system}/", f"{system}: "), file=sys.stderr)
        if unlisted := [path for path in with_conditions() if not any(path.is_relative_to(root / one) for one in [*modules.values(), *unchecked])]:
            failed = True
            print("apple-check: these files have conditions, and their modules are not checked:", *unlisted, sep="\n  ", file=sys.stderr)
    return 1 if failed else 0


def with_conditions():
    """The sources of libraries whose branches depend on the system."""
    condition = re.compile(r"^\s*#(?:if|elseif) .*\b(?:os|canImport)\((?!FoundationEssentials)", re.M)
    for folder in ("Modules", "Plugins"):
        for path in sorted((root / folder).rglob("*.swift")):
            if condition.search(path.read_text()):
                yield path


if __name__ == "__main__":
    sys.exit(main())
