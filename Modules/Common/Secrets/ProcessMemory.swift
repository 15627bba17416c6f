import ProcessSystem

/// What a process can do so that its keys do not leave its memory.
public enum ProcessMemory: Sendable {
  /// What ``protect()`` achieved.
  public struct Protection: Sendable, Equatable {
    /// Whether a crash writes no core dump.
    public let hasNoCoreDumps: Bool
    /// Whether other processes of the same user can neither trace the process nor read its memory.
    public let isUntraceable: Bool
    /// Whether no page of the process is ever swapped out. Without it the pages of master keys alone are
    /// locked, as far as the limit of locked memory (`ulimit -l`) allows.
    public let isLocked: Bool
  }

  /// Switches core dumps off, forbids other processes of the user to trace this one, and keeps its memory from being
  /// swapped out where there is no limit of locked memory. For the start of a program.
  ///
  /// Debuggers and crash reporters that attach to the process no longer can.
  @discardableResult
  public static func protect() -> Protection {
    Protection(
      hasNoCoreDumps: process_forbid_core_dumps() == 0,
      isUntraceable: process_forbid_tracing() == 0, isLocked: process_lock_memory() == 0)
  }
}
