package io.lendstream.simulator.published;

import io.lendstream.core.policy.Policy;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** The replicas of all services, in the order in which requests of their service look at them. */
final class Pods {
    private final Policy policy;
    private final boolean keepsWarm;
    private final Map<String, List<Pod>> byService = new LinkedHashMap<>();

    Pods(PublishedSettings settings) {
        this.policy = settings.policy();
        this.keepsWarm = settings.keepsWarm();
    }

    Stream<Pod> all() {
        return byService.values().stream().flatMap(List::stream);
    }

    void add(Pod pod) {
        of(pod).add(pod);
    }

    void removeIf(Predicate<Pod> gone) {
        byService.values().forEach(pods -> pods.removeIf(gone));
    }

    private List<Pod> of(Pod pod) {
        return byService.computeIfAbsent(pod.founder().row().application(), service -> new ArrayList<>());
    }

    /**
     * A warm replica of a service: the one with most hits in a row. Asking for one puts them in that order for good.
     */
    Optional<Pod> warm(String service) {
        List<Pod> pods = byService.getOrDefault(service, List.of());
        if (pods.isEmpty()) {
            return Optional.empty();
        }
        pods.sort(Comparator.comparingInt(Pod::hits).reversed());
        return pods.stream()
                .filter(pod -> pod.isSleeping() || (keepsWarm && pod.phase() == Pod.Phase.PROTECTED))
                .findFirst();
    }

    /** Lets time pass: requests end, protection ends. */
    void passTo(int now) {
        for (List<Pod> pods : byService.values()) {
            for (Pod pod : pods) {
                if (pod.phase() == Pod.Phase.RUNNING && pod.busyUntil() <= now) {
                    served(pod, pod.busyUntil());
                }
                if (pod.phase() == Pod.Phase.PROTECTED && pod.sleepsAt() <= now) {
                    pod.sleep();
                }
            }
            pods.removeIf(Pod::isGone);
        }
    }

    /** Its request has ended: it is kept warm for a while, or gone where nothing is kept warm. */
    void served(Pod pod, int now) {
        if (keepsWarm) {
            pod.protect(now, (int) policy.protectFor(pod.hits()).toSeconds());
        } else {
            pod.stop();
        }
    }
}
