package io.lendstream.launcher.cli;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** A command with subcommands and no action of its own. */
public abstract class CommandGroup implements Runnable {
    private final String example;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    /** @param example a complete subcommand */
    protected CommandGroup(String example) {
        this.example = example;
    }

    @Override
    public final void run() {
        spec.commandLine().usage(spec.commandLine().getErr());
        throw UserError.badUsage("No command given; name one of the commands above, as in: " + example);
    }
}
