package io.lendstream.stack;

import io.lendstream.core.event.ServiceName;
import java.util.Arrays;
import java.util.Optional;

/** The services of Lendstream: each is a module with a main class, and runs as its own process. */
public enum ServiceKind {
    AGENT(
            ServiceName.AGENT,
            "telemetry-agent",
            "io.lendstream.agent.AgentMain",
            Jvm.quick(96),
            "Publish the GPUs of a node and their telemetry."),
    FORECASTER(
            ServiceName.FORECASTER,
            "forecaster",
            "io.lendstream.forecaster.ForecasterMain",
            new Jvm(320, 192, Jvm.Compiler.QUICK),
            "Forecast the demand of services (Flink job)."),
    SCHEDULER(
            ServiceName.SCHEDULER,
            "scheduler-streams",
            "io.lendstream.scheduler.SchedulerMain",
            Jvm.thorough(256),
            "Decide which GPUs to lend and to reclaim."),
    ACTUATOR(
            ServiceName.ACTUATOR,
            "actuator",
            "io.lendstream.actuator.ActuatorMain",
            Jvm.quick(96),
            "Carry out decisions and report the results."),
    LOAD(
            ServiceName.LOAD,
            "load-generator",
            "io.lendstream.load.LoadMain",
            Jvm.quick(192),
            "Write a workload to the topics as agents and jobs would.");

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

    /** Its name on the command line. */
    public String command() {
        return service.toString();
    }

    public String module() {
        return module;
    }

    public String mainClass() {
        return mainClass;
    }

    /** One line for the list of commands. */
    public String description() {
        return description;
    }

    public static Optional<ServiceKind> named(String command) {
        return Arrays.stream(values())
                .filter(kind -> kind.command().equals(command))
                .findFirst();
    }

    /** Whether this build contains it. */
    public boolean isIn(Installation installation) {
        return installation.has(module, mainClass);
    }

    /** The service as a child of a stack, restarted at most three times. */
    public Child child(Installation installation) {
        return new Child(command(), installation.classPath(module), mainClass, jvm).onExit(OnExit.restart(3));
    }
}
