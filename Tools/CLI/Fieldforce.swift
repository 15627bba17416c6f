import ArgumentParser
@main struct Fieldforce: ParsableCommand { func run() {} }
