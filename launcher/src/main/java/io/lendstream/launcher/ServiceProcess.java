package io.lendstream.launcher;

import io.lendstream.stack.Foreground;
import io.lendstream.stack.Installation;
import io.lendstream.stack.ServiceKind;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Unmatched;

/**
 * A service as a subcommand. It runs in its own JVM with its own class path, and parses its own options.
 *
 * <p>The script {@code lendstream} starts services directly; this class serves the list of commands and other
 * launchers.
 */
@Command
final class ServiceProcess implements Callable<Integer> {

    private final ServiceKind kind;
    private final Installation installation;

    @Unmatched
    private List<String> arguments = List.of();

    private ServiceProcess(ServiceKind kind, Installation installation) {
        this.kind = kind;
        this.installation = installation;
    }

    static CommandLine command(ServiceKind kind, Installation installation) {
        var command = new CommandLine(CommandSpec.forAnnotatedObject(new ServiceProcess(kind, installation)));
        command.getCommandSpec().name(kind.command()).usageMessage().description(kind.description());
        return command.setUnmatchedOptionsArePositionalParams(true);
    }

    @Override
    public Integer call() throws Exception {
        return Foreground.run(kind.child(installation).withArguments(arguments));
    }
}
