import ArgumentParser

/// `fieldforce completions`: what a shell needs to complete commands and options.
struct CompletionsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "completions", abstract: "Print the completion script of a shell.",
    discussion: """
      Examples:
        fieldforce completions bash > \\
          ~/.local/share/bash-completion/completions/fieldforce
        fieldforce completions zsh > ~/.zsh/completions/_fieldforce
        fieldforce completions fish > ~/.config/fish/completions/fieldforce.fish
      New shells use it. For this one: source <(fieldforce completions bash)
      """)

  enum Shell: String, ExpressibleByArgument, CaseIterable { case bash, zsh, fish }

  @Argument(help: "bash, zsh or fish.") var shell: Shell

  func run() {
    let kind: CompletionShell =
      switch shell {
      case .bash: .bash
      case .zsh: .zsh
      case .fish: .fish
      }
    print(Fieldforce.completionScript(for: kind))
  }
}
