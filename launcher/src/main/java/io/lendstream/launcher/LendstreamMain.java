package io.lendstream.launcher;

import io.lendstream.launcher.access.AclsCommand;
import io.lendstream.launcher.cli.CommandGroup;
import io.lendstream.launcher.cli.CommandList;
import io.lendstream.launcher.cli.CommandNames;
import io.lendstream.launcher.cli.Errors;
import io.lendstream.launcher.cli.UserError;
import io.lendstream.launcher.cluster.SchemasCommand;
import io.lendstream.launcher.cluster.TopicsCommand;
import io.lendstream.launcher.declare.ApplyCommand;
import io.lendstream.launcher.declare.DeleteCommand;
import io.lendstream.launcher.declare.DescribeCommand;
import io.lendstream.launcher.declare.GetCommand;
import io.lendstream.launcher.declare.RunCommand;
import io.lendstream.launcher.operation.AdoptCommand;
import io.lendstream.launcher.operation.ControlCommands;
import io.lendstream.launcher.operation.DoctorCommand;
import io.lendstream.launcher.operation.ExplainCommand;
import io.lendstream.launcher.operation.TopCommand;
import io.lendstream.launcher.operation.TrustCommand;
import io.lendstream.service.HelpSections;
import io.lendstream.service.text.Printable;
import io.lendstream.stack.Installation;
import io.lendstream.stack.ServiceKind;
import io.lendstream.stack.StackException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.UsageMessageSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/** The {@code lendstream} command and its tree of subcommands. */
@Command(
        name = "lendstream",
        description = "Lends idle inference GPUs to training, and reclaims them when inference needs them.",
        versionProvider = LendstreamMain.Version.class,
        mixinStandardHelpOptions = true,
        scope = ScopeType.INHERIT,
        sortOptions = false,
        abbreviateSynopsis = true,
        synopsisHeading = "%nUsage: ",
        synopsisSubcommandLabel = "COMMAND",
        commandListHeading = "",
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
        COMMANDS.put("apply", ApplyCommand.class);
        COMMANDS.put("get", GetCommand.class);
        COMMANDS.put("describe", DescribeCommand.class);
        COMMANDS.put("delete", DeleteCommand.class);
        COMMANDS.put("run", RunCommand.class);
        COMMANDS.put("explain", ExplainCommand.class);
        COMMANDS.put("freeze", ControlCommands.Freeze.class);
        COMMANDS.put("thaw", ControlCommands.Thaw.class);
        COMMANDS.put("reclaim-all", ControlCommands.ReclaimAll.class);
        COMMANDS.put("advisory", ControlCommands.Advisory.class);
        COMMANDS.put("trust", TrustCommand.class);
        COMMANDS.put("approve", ControlCommands.Approve.class);
        COMMANDS.put("adopt", AdoptCommand.class);
        COMMANDS.put("reset", ControlCommands.Reset.class);
        COMMANDS.put("top", TopCommand.class);
        COMMANDS.put("doctor", DoctorCommand.class);
        COMMANDS.put("policies", ListCommands.ThePolicies.class);
        COMMANDS.put("models", ListCommands.TheModels.class);
        COMMANDS.put("presets", ListCommands.ThePresets.class);
    }

    private static final Map<String, List<String>> GROUPS = new LinkedHashMap<>();

    static {
        GROUPS.put("Start here", List.of("demo"));
        GROUPS.put("Declare", List.of("run", "apply", "get", "describe", "delete"));
        GROUPS.put(
                "Operate",
                List.of(
                        "top",
                        "explain",
                        "doctor",
                        "freeze",
                        "thaw",
                        "reclaim-all",
                        "advisory",
                        "trust",
                        "approve",
                        "adopt",
                        "reset"));
        GROUPS.put("Replay and plan", List.of("replay", "forecast", "plan", "policies", "models", "presets"));
        GROUPS.put("Services", List.of("agent", "forecaster", "scheduler", "actuator", "load"));
        GROUPS.put("Setup", List.of("stack", "topics", "schemas", "acls"));
    }

    @Option(
            names = "--verbose",
            scope = ScopeType.INHERIT,
            order = 200,
            description = "Show the stack trace of an error.")
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
        Optional<String> unknown = CommandNames.unknown(commandLine, args);
        if (unknown.isPresent()) {
            err.println(Printable.line(unknown.get()));
            err.flush();
            return UserError.BAD_USAGE;
        }
        return execute(commandLine.setOut(out).setErr(err), args);
    }

    /** Executes a command line; an exhausted heap is reported with the way out. */
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

    /** The command line with all commands. */
    static CommandLine commandLine() {
        CommandLine commandLine = commandLine(COMMANDS.keySet());
        addServices(commandLine);
        return commandLine;
    }

    /** The command line with some commands: reading the options of all takes a tenth of a second. */
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
                .footer("Example: lendstream demo", "'lendstream COMMAND --help' describes a command.");
        commandLine.setHelpSectionKeys(HelpSections.IN_ORDER);
        commandLine.getHelpSectionMap().put(UsageMessageSpec.SECTION_KEY_COMMAND_LIST, new CommandList(GROUPS));
        for (CommandLine each : commandLine.getSubcommands().values()) {
            each.getHelpSectionMap().put(UsageMessageSpec.SECTION_KEY_COMMAND_LIST, new CommandList(Map.of()));
        }
        var errors = new Errors(() -> main.verbose);
        return commandLine
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setExecutionExceptionHandler(errors)
                .setParameterExceptionHandler(errors);
    }

    /** Adds the services of this build. */
    private static void addServices(CommandLine commandLine) {
        Installation installation;
        try {
            installation = Installation.find();
        } catch (StackException e) {
            return; // the launcher alone: commands that need a module report it
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
