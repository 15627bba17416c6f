import Foundation

/// The names that a file system, or Git, reads as those of a repository.
///
/// Git runs programs that the configuration of a repository names, at `git status` already, which many prompts and
/// editors run on their own. A file `.git` leads to such a configuration as well. `.gitmodules` and `.gitattributes` run
/// nothing without it.
enum GitNames {
  /// Whether a name is `.git` to any file system: in any case, with code points that HFS+ ignores, in a compatibility
  /// form, with blanks, full stops or a stream's name at its end, or as the short name of NTFS.
  static func isRepository(_ name: String) -> Bool {
    // A backslash separates names on Windows.
    name.unicodeScalars.split(separator: "\\").contains { part in
      let plain = folded(String(part))
      var stem = plain.unicodeScalars.prefix { $0 != ":" }
      while let last = stem.last, last == " " || last == "." { stem.removeLast() }
      let text = String(stem)
      return text == ".git" || text.wholeMatch(of: /git~[0-9]+/) != nil
    }
  }

  /// Whether Git takes a folder with these entries for a repository without a name of its own, as `git init --bare` makes
  /// it, or for the part of one that `git worktree` makes.
  static func isBareRepository(files: [String], folders: [String]) -> Bool {
    let files = Set(files.map(folded))
    let folders = Set(folders.map(folded))
    return files.contains("head")
      && (files.contains("commondir") || folders.isSuperset(of: ["objects", "refs"]))
  }

  /// A name as the file systems compare it that ignore the most.
  private static func folded(_ name: String) -> String {
    visible(visible(name).precomposedStringWithCompatibilityMapping).lowercased()
  }

  private static func visible(_ text: String) -> String {
    var scalars = String.UnicodeScalarView()
    scalars.append(
      contentsOf: text.unicodeScalars.lazy.filter { !$0.properties.isDefaultIgnorableCodePoint })
    return String(scalars)
  }
}
