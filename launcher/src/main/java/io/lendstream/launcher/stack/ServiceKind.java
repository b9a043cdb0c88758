package io.lendstream.launcher.stack;

import java.util.Arrays;
import java.util.Optional;

/** The services that Lendstream consists of: each a module with a main class, run as a process of its own. */
public enum ServiceKind {
    AGENT("agent", "telemetry-agent", "io.lendstream.agent.AgentMain", Jvm.quick(96), "Telemetry of a node's GPUs."),
    FORECASTER(
            "forecaster",
            "forecaster",
            "io.lendstream.forecaster.ForecasterMain",
            new Jvm(320, 192, Jvm.Compiler.QUICK),
            "The Flink job that forecasts demand."),
    SCHEDULER(
            "scheduler",
            "scheduler-streams",
            "io.lendstream.scheduler.SchedulerMain",
            Jvm.thorough(256),
            "Decides who gets which GPU."),
    ACTUATOR(
            "actuator",
            "actuator",
            "io.lendstream.actuator.ActuatorMain",
            Jvm.quick(96),
            "Carries decisions out and reports back."),
    LOAD(
            "load",
            "load-generator",
            "io.lendstream.load.LoadMain",
            Jvm.quick(192),
            "Plays a workload into the topics as agents and jobs would.");

    private final String command;
    private final String module;
    private final String mainClass;

    @SuppressWarnings("ImmutableEnumChecker") // a record of two numbers and an enum
    private final Jvm jvm;

    private final String description;

    ServiceKind(String command, String module, String mainClass, Jvm jvm, String description) {
        this.command = command;
        this.module = module;
        this.mainClass = mainClass;
        this.jvm = jvm;
        this.description = description;
    }

    /** What the command line calls it. */
    public String command() {
        return command;
    }

    public String module() {
        return module;
    }

    public String mainClass() {
        return mainClass;
    }

    /** One line for a list of commands. */
    public String description() {
        return description;
    }

    public static Optional<ServiceKind> named(String command) {
        return Arrays.stream(values())
                .filter(kind -> kind.command.equals(command))
                .findFirst();
    }

    /** Whether this build has it. */
    public boolean isIn(Installation installation) {
        return installation.has(module, mainClass);
    }

    /** It as a child of a stack, restarted three times at most. */
    public Child child(Installation installation) {
        return new Child(command, installation.classPath(module), mainClass, jvm).onExit(OnExit.restart(3));
    }
}
