package io.lendstream.launcher;

import io.lendstream.launcher.access.AclsCommand;
import io.lendstream.launcher.cli.CommandGroup;
import io.lendstream.launcher.cli.Errors;
import io.lendstream.launcher.cli.UserError;
import io.lendstream.launcher.cluster.SchemasCommand;
import io.lendstream.launcher.cluster.TopicsCommand;
import io.lendstream.launcher.operation.ControlCommands;
import io.lendstream.launcher.operation.DoctorCommand;
import io.lendstream.launcher.operation.ExplainCommand;
import io.lendstream.launcher.operation.TopCommand;
import io.lendstream.stack.Installation;
import io.lendstream.stack.ServiceKind;
import io.lendstream.stack.StackException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/** The {@code lendstream} command and its tree of subcommands. */
@Command(
        name = "lendstream",
        description = "Lends GPUs that inference leaves idle to training, and takes them back in time.",
        versionProvider = LendstreamMain.Version.class,
        mixinStandardHelpOptions = true,
        scope = ScopeType.INHERIT,
        synopsisSubcommandLabel = "COMMAND",
        commandListHeading = "%nCommands:%n",
        optionListHeading = "%nOptions:%n",
        footerHeading = "%n")
public final class LendstreamMain extends CommandGroup {
    private static final Map<String, Class<?>> COMMANDS = new LinkedHashMap<>();

    static {
        COMMANDS.put("demo", DemoCommand.class);
        COMMANDS.put("replay", ReplayCommand.class);
        COMMANDS.put("forecast", ForecastCommand.class);
        COMMANDS.put("plan", PlanCommand.class);
        COMMANDS.put("stack", StackCommand.class);
        COMMANDS.put("topics", TopicsCommand.class);
        COMMANDS.put("schemas", SchemasCommand.class);
        COMMANDS.put("acls", AclsCommand.class);
        COMMANDS.put("explain", ExplainCommand.class);
        COMMANDS.put("freeze", ControlCommands.Freeze.class);
        COMMANDS.put("thaw", ControlCommands.Thaw.class);
        COMMANDS.put("reclaim-all", ControlCommands.ReclaimAll.class);
        COMMANDS.put("advisory", ControlCommands.Advisory.class);
        COMMANDS.put("approve", ControlCommands.Approve.class);
        COMMANDS.put("reset", ControlCommands.Reset.class);
        COMMANDS.put("top", TopCommand.class);
        COMMANDS.put("doctor", DoctorCommand.class);
        COMMANDS.put("policies", ListCommands.ThePolicies.class);
        COMMANDS.put("models", ListCommands.TheModels.class);
        COMMANDS.put("presets", ListCommands.ThePresets.class);
    }

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
        boolean known = args.length > 0 && COMMANDS.containsKey(args[0]);
        CommandLine commandLine = known ? commandLine(Set.of(args[0])) : commandLine();
        return execute(commandLine.setOut(out).setErr(err), args);
    }

    /** As picocli does, and with a way out where the heap is too small. */
    static int execute(CommandLine commandLine, String... args) {
        try {
            return commandLine.execute(args);
        } catch (OutOfMemoryError e) {
            commandLine
                    .getErr()
                    .printf(
                            "This needs more memory than its heap of %d MB. Set LENDSTREAM_JAVA_OPTS=-Xmx4g, or run less at a time.%n",
                            Runtime.getRuntime().maxMemory() >> 20);
            return UserError.FAILED;
        }
    }

    /** With all commands. */
    static CommandLine commandLine() {
        CommandLine commandLine = commandLine(COMMANDS.keySet());
        addServices(commandLine);
        return commandLine;
    }

    /** With some commands: to read the options of all takes a tenth of a second, for a single one that is wanted. */
    private static CommandLine commandLine(Set<String> names) {
        var main = new LendstreamMain();
        var commandLine = new CommandLine(main);
        COMMANDS.forEach((name, type) -> {
            if (names.contains(name)) {
                commandLine.addSubcommand(name, type);
            }
        });
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
