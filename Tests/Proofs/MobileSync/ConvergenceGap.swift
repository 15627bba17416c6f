import MobileSync
@testable import MobileSyncTests

/// A part of what the proof draws or checks, which can be left out while the engine is known to fail there.
///
/// Each open gap stands in `Docs/Status.md` with a seed. Close one by removing it from ``open``.
enum ConvergenceGap: Sendable, CaseIterable {
  case leavingUploads, leavingDownloads, overwritingUploads, overwritingDownloads
  case touchedInDoubt, upsertOntoOthers, selfReferences
  case externalIds, trees, references, secondDown, normalizing, flows, lateCommits
  case batches, dates, mixedModes, fetchedDates
  case moves, undeletes, replacements, addedFields, relations, misdirections, deletions
  case serverEdits, edits

  /// What is not drawn yet.
  static let open: Set<ConvergenceGap> = []

  static func isOpen(_ gap: ConvergenceGap) -> Bool { open.contains(gap) }

  /// Takes what meets the fault out of a drawn world.
  func leaveOut(of world: inout ConvergenceWorld) {
    func replace(_ mode: SyncMergeMode, up: Bool) {
      for index in world.modes.indices {
        if up {
          if world.modes[index].up == mode { world.modes[index].up = .mergeFields }
        } else {
          if world.modes[index].down == mode { world.modes[index].down = .mergeFields }
          if world.modes[index].secondDown == mode { world.modes[index].secondDown = .mergeFields }
        }
      }
    }
    switch self {
    case .leavingUploads: replace(.leaveIfChanged, up: true)
    case .leavingDownloads: replace(.leaveIfChanged, up: false)
    case .overwritingUploads: replace(.overwrite, up: true)
    case .overwritingDownloads: replace(.overwrite, up: false)
    case .externalIds: world.hasExternalId = false
    case .trees: if world.shape.isTree { world.shape = .chain }
    case .references: if !world.shape.isTree { world.shape = .flat }
    case .secondDown: world.hasSecondDown = false
    case .normalizing: world.normalizes = false
    case .flows: world.hasFlow = false
    case .lateCommits: world.commitsLate = false
    case .batches: world.target = .collection
    case .mixedModes: world.modes = world.modes.map { _ in world.modes[0] }
    case .fetchedDates: world.fetchesModificationDates = false
    default: break
    }
  }

  /// Whether a step meets the fault.
  func leavesOut(_ step: ConvergenceStory.Step) -> Bool {
    switch (self, step) {
    case (.moves, .move), (.undeletes, .undelete), (.replacements, .replace),
      (.addedFields, .addField), (.relations, .relate), (.misdirections, .misdirect),
      (.deletions, .delete):
      true
    case (.serverEdits, .sync(_, _, let fault?)): fault.kind == .serverEdit
    case (.edits, .sync(_, _, let fault?)):
      [.edit, .create, .delete].contains(fault.kind)
    default: false
    }
  }
}
