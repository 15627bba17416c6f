import ProcessSystem

/// Protection of the keys in the memory of this process.
public enum ProcessMemory: Sendable {
  /// The result of ``protect()``.
  public struct Protection: Sendable, Equatable {
    /// Whether a crash writes no core dump.
    public let hasNoCoreDumps: Bool
    /// Whether other processes of the same user can neither trace the process nor read its memory.
    public let isUntraceable: Bool
    /// Whether no page of the process is ever swapped out. Otherwise only the pages of master keys
    /// are locked, as far as the limit of locked memory (`ulimit -l`) allows.
    public let isLocked: Bool
  }

  /// Turns off core dumps, prevents other processes of the user from tracing this one, and, if
  /// locked memory is not limited, prevents swapping. Call it at the start of a program.
  ///
  /// Debuggers and crash reporters that attach to the process no longer can.
  @discardableResult
  public static func protect() -> Protection {
    Protection(
      hasNoCoreDumps: process_forbid_core_dumps() == 0,
      isUntraceable: process_forbid_tracing() == 0, isLocked: process_lock_memory() == 0)
  }
}
