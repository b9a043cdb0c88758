package io.lendstream.launcher;

import io.lendstream.launcher.cluster.SchemasCommand;
import io.lendstream.launcher.cluster.TopicsCommand;
import io.lendstream.launcher.stack.Installation;
import io.lendstream.launcher.stack.ServiceKind;
import io.lendstream.launcher.stack.StackException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.util.Optional;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/** The {@code lendstream} command and its tree of subcommands. */
@Command(
        name = "lendstream",
        description = "Lends GPUs that inference leaves idle to training, and takes them back in time.",
        subcommands = {
            DemoCommand.class,
            ReplayCommand.class,
            StackCommand.class,
            TopicsCommand.class,
            SchemasCommand.class,
            ListCommands.ThePolicies.class,
            ListCommands.TheModels.class,
            ListCommands.ThePresets.class
        },
        versionProvider = LendstreamMain.Version.class,
        mixinStandardHelpOptions = true,
        scope = ScopeType.INHERIT,
        synopsisSubcommandLabel = "COMMAND",
        commandListHeading = "%nCommands:%n",
        optionListHeading = "%nOptions:%n",
        footerHeading = "%n")
public final class LendstreamMain extends CommandGroup {

    @Option(names = "--verbose", scope = ScopeType.INHERIT, description = "Show where an error comes from.")
    private boolean verbose;

    private LendstreamMain() {
        super("lendstream demo");
    }

    public static void main(String[] args) {
        if (System.getProperty("logback.configurationFile") == null) {
            System.setProperty("logback.configurationFile", "logback-launcher.xml");
        }
        System.exit(run(args, writer(System.out), writer(System.err)));
    }

    private static PrintWriter writer(PrintStream stream) {
        return new PrintWriter(stream, true, Charset.defaultCharset());
    }

    /** Runs one command and returns its exit code. */
    static int run(String[] args, PrintWriter out, PrintWriter err) {
        return commandLine().setOut(out).setErr(err).execute(args);
    }

    static CommandLine commandLine() {
        var main = new LendstreamMain();
        var commandLine = new CommandLine(main);
        addServices(commandLine);
        // Not in the annotation: subcommands without a footer of their own would inherit it.
        commandLine
                .getCommandSpec()
                .usageMessage()
                .footer("Example: lendstream demo", "'lendstream COMMAND --help' says more about one.");
        var errors = new Errors(() -> main.verbose);
        return commandLine
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setExecutionExceptionHandler(errors)
                .setParameterExceptionHandler(errors);
    }

    /** Services that this build has not got are not listed. */
    private static void addServices(CommandLine commandLine) {
        Installation installation;
        try {
            installation = Installation.find();
        } catch (StackException e) {
            return; // the launcher alone: whatever needs a module says so
        }
        for (ServiceKind kind : ServiceKind.values()) {
            if (kind.isIn(installation)) {
                commandLine.addSubcommand(kind.command(), ServiceProcess.command(kind, installation));
            }
        }
    }

    /** The version that Maven gave this jar. */
    static final class Version implements CommandLine.IVersionProvider {

        @Override
        public String[] getVersion() {
            return new String[] {
                "lendstream "
                        + Optional.ofNullable(LendstreamMain.class.getPackage().getImplementationVersion())
                                .orElse("(development)")
            };
        }
    }
}
