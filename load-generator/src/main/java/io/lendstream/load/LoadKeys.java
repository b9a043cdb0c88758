package io.lendstream.load;

import io.lendstream.service.settings.Key;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** The load generator's settings. */
public final class LoadKeys {
    public static final Key<String> DOMAIN = Key.name("load.domain", "default", "Domain that the workload plays in.");
    public static final Key<Optional<Duration>> QUANTUM = Key.period(
                    "load.quantum",
                    "1s",
                    "Virtual time by which an accelerated run moves on while something happens, at most 5s; nothing for 1s where the workload names single requests, else 5s.")
            .optional();
    public static final Key<Duration> STALL_TIMEOUT = Key.period(
            "load.stall-timeout",
            "120s",
            "How long a service may take to answer in an accelerated run before the run is given up.");
    public static final Key<List<String>> WAITS_FOR = Key.words(
            "load.waits-for",
            "agent,actuator,scheduler",
            "Services whose answers an accelerated run waits for; agent, actuator, scheduler or forecaster.");
    public static final Key<Duration> STOP_AFTER = Key.duration(
            "load.stop-after", "0s", "Wall-clock time after which the play is broken off; 0s lets it end by itself.");
    public static final Key<String> POLICY = Key.text(
            "load.policy",
            "",
            "What the results call the policy that the scheduler plans with; nothing where it is not known.");
    public static final Key<Boolean> LENDING =
            Key.flag("load.lending", true, "Whether the results say that the scheduler lends.");
    public static final Key<Boolean> AFE =
            Key.flag("load.afe", true, "Whether the results say that jobs are changed in place.");

    public static final List<Key<?>> ALL =
            List.of(DOMAIN, QUANTUM, STALL_TIMEOUT, WAITS_FOR, STOP_AFTER, POLICY, LENDING, AFE);

    private LoadKeys() {}
}
