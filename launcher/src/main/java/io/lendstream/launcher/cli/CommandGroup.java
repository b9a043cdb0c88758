package io.lendstream.launcher.cli;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** A command that does nothing by itself and has others below it. */
public abstract class CommandGroup implements Runnable {
    private final String example;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    /** @param example one of those below it, as it is typed */
    protected CommandGroup(String example) {
        this.example = example;
    }

    @Override
    public final void run() {
        spec.commandLine().usage(spec.commandLine().getErr());
        throw UserError.badUsage("No command given; name one of those above, as in: " + example);
    }
}
