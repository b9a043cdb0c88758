package io.lendstream.agent;

import io.lendstream.agent.kubernetes.PodTarget;
import io.lendstream.agent.rates.RateProbe;
import io.lendstream.agent.rates.Window;
import io.micrometer.core.instrument.MeterRegistry;
import java.net.URI;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps a probe for each pod with counted requests. A pod that ends takes back its rate, because consumers would rely
 * on it for minutes. For one thread, which may let others do the readings.
 */
final class PodProbes {
    private static final Logger LOG = LoggerFactory.getLogger(PodProbes.class);

    private final Supplier<Collection<PodTarget>> pods;
    private final Set<URI> readElsewhere;
    private final Instant since;
    private final Function<PodTarget, RateProbe> maker;
    private final Map<Seat, RateProbe> probes = new ConcurrentHashMap<>();
    private final List<RateProbe> leaving = new ArrayList<>();
    private final Set<String> twice = new HashSet<>();

    /** A pod with other annotations counts as another pod. */
    private record Seat(String uid, Object endpoint, Object service) {
        static Seat of(PodTarget pod) {
            return new Seat(pod.uid(), pod.endpoint(), pod.service());
        }
    }

    /**
     * Creates the probes.
     *
     * @param pods the current pods
     * @param readElsewhere addresses that are also in the settings: they are read only once
     * @param since when the agent started: servers started later have no counts from another agent
     */
    PodProbes(
            Supplier<Collection<PodTarget>> pods,
            Set<URI> readElsewhere,
            Instant since,
            Function<PodTarget, RateProbe> maker,
            MeterRegistry metrics) {
        this.pods = pods;
        this.readElsewhere = Set.copyOf(readElsewhere);
        this.since = since;
        this.maker = maker;
        metrics.gauge("lendstream.rate.pods", probes, Map::size);
    }

    /** The probes to read now; new pods are added, and ended pods removed. */
    List<Callable<List<Window>>> readings() {
        Map<Seat, PodTarget> there = there();
        for (Iterator<Map.Entry<Seat, RateProbe>> each = probes.entrySet().iterator(); each.hasNext(); ) {
            Map.Entry<Seat, RateProbe> probe = each.next();
            if (!there.containsKey(probe.getKey())) {
                leaving.add(probe.getValue());
                each.remove();
            }
        }
        List<Callable<List<Window>>> readings = new ArrayList<>();
        there.forEach((identity, pod) -> {
            RateProbe probe = probes.computeIfAbsent(identity, added -> made(pod));
            if (pod.running()) {
                readings.add(() -> probe.look(pod.started()));
            }
        });
        return readings;
    }

    private RateProbe made(PodTarget pod) {
        LOG.info("counting requests of pod {} at {}", pod.name(), pod.endpoint().url());
        RateProbe probe = maker.apply(pod);
        pod.started().filter(since::isBefore).ifPresent(probe::countFrom);
        return probe;
    }

    private Map<Seat, PodTarget> there() {
        var byName = new TreeMap<String, PodTarget>();
        pods.get().forEach(pod -> byName.put(pod.name() + " " + pod.uid(), pod));
        var urls = new HashSet<URI>(readElsewhere);
        Map<Seat, PodTarget> there = new ConcurrentHashMap<>();
        twice.retainAll(byName.values().stream().map(PodTarget::uid).toList());
        byName.values().forEach(pod -> {
            if (urls.add(pod.endpoint().url())) {
                there.put(Seat.of(pod), pod);
            } else if (twice.add(pod.uid())) {
                LOG.warn(
                        "pod {} is not counted: {} is read already. Remove it from agent.rate-endpoints, or remove the annotations from one of the pods.",
                        pod.name(),
                        pod.endpoint().url());
            }
        });
        return there;
    }

    /** The last windows of ended pods. */
    List<Window> farewells() {
        var windows = new ArrayList<Window>();
        for (Iterator<RateProbe> each = leaving.iterator(); each.hasNext(); ) {
            Optional<List<Window>> last = each.next().farewell();
            if (last.isPresent()) {
                windows.addAll(last.get());
                each.remove();
            }
        }
        return windows;
    }
}
