package io.lendstream.load;

import io.lendstream.service.settings.Key;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** The load generator's settings. */
public final class LoadKeys {
    public static final Key<String> DOMAIN = Key.name("load.domain", "default", "Domain of the workload.");
    public static final Key<Optional<Duration>> QUANTUM = Key.period(
                    "load.quantum",
                    "1s",
                    "Virtual time of one step of an accelerated run while events happen, at most 5s; nothing for 1s if the workload has single requests, else 5s.")
            .optional();
    public static final Key<Duration> STALL_TIMEOUT = Key.period(
            "load.stall-timeout",
            "120s",
            "Time that a service may take to answer in an accelerated run before the run stops.");
    public static final Key<List<String>> WAITS_FOR = Key.words(
            "load.waits-for",
            "agent,actuator,scheduler",
            "Services that must answer in an accelerated run: agent, actuator, scheduler or forecaster.");
    public static final Key<Duration> STOP_AFTER = Key.duration(
            "load.stop-after", "0s", "Wall-clock time after which the run stops; 0s for the end of the workload.");
    public static final Key<String> POLICY =
            Key.text("load.policy", "", "Name of the policy in the results; nothing if it is unknown.");
    public static final Key<Boolean> LENDING = Key.flag("load.lending", true, "Whether lending is on in the results.");
    public static final Key<Boolean> AFE =
            Key.flag("load.afe", true, "Whether AFE (changing jobs in place) is on in the results.");

    public static final List<Key<?>> ALL =
            List.of(DOMAIN, QUANTUM, STALL_TIMEOUT, WAITS_FOR, STOP_AFTER, POLICY, LENDING, AFE);

    private LoadKeys() {}
}
