package io.lendstream.stack;

import io.lendstream.core.event.ServiceName;
import java.util.Arrays;
import java.util.Optional;

/** The services that Lendstream consists of: each a module with a main class, run as a process of its own. */
public enum ServiceKind {
    AGENT(
            ServiceName.AGENT,
            "telemetry-agent",
            "io.lendstream.agent.AgentMain",
            Jvm.quick(96),
            "Telemetry of a node's GPUs."),
    FORECASTER(
            ServiceName.FORECASTER,
            "forecaster",
            "io.lendstream.forecaster.ForecasterMain",
            new Jvm(320, 192, Jvm.Compiler.QUICK),
            "The Flink job that forecasts demand."),
    SCHEDULER(
            ServiceName.SCHEDULER,
            "scheduler-streams",
            "io.lendstream.scheduler.SchedulerMain",
            Jvm.thorough(256),
            "Decides who gets which GPU."),
    ACTUATOR(
            ServiceName.ACTUATOR,
            "actuator",
            "io.lendstream.actuator.ActuatorMain",
            Jvm.quick(96),
            "Carries decisions out and reports back."),
    LOAD(
            ServiceName.LOAD,
            "load-generator",
            "io.lendstream.load.LoadMain",
            Jvm.quick(192),
            "Plays a workload into the topics as agents and jobs would.");

    private final ServiceName service;
    private final String module;
    private final String mainClass;

    @SuppressWarnings("ImmutableEnumChecker") // a record of two numbers and an enum
    private final Jvm jvm;

    private final String description;

    ServiceKind(ServiceName service, String module, String mainClass, Jvm jvm, String description) {
        this.service = service;
        this.module = module;
        this.mainClass = mainClass;
        this.jvm = jvm;
        this.description = description;
    }

    /** What the command line calls it. */
    public String command() {
        return service.toString();
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
                .filter(kind -> kind.command().equals(command))
                .findFirst();
    }

    /** Whether this build has it. */
    public boolean isIn(Installation installation) {
        return installation.has(module, mainClass);
    }

    /** It as a child of a stack, restarted three times at most. */
    public Child child(Installation installation) {
        return new Child(command(), installation.classPath(module), mainClass, jvm).onExit(OnExit.restart(3));
    }
}
