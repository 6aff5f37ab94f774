fn main() -> std::process::ExitCode {
    warploom::cli::main()
}
