package io.lendstream.simulator.published;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/** The requests of a workload, from their arrival to their end. */
final class PublishedRequests {
    private final List<RequestBatchRun> all = new ArrayList<>();
    private final TreeMap<Integer, RequestBatchRun> unfinished = new TreeMap<>();
    private int arrived;

    /** Adds a request of the workload, which lists them in the order of their arrival. */
    void add(RequestBatchRun request) {
        all.add(request);
    }

    List<RequestBatchRun> all() {
        return all;
    }

    /** Whether all have come and gone. */
    boolean isOver() {
        return arrived == all.size() && unfinished.isEmpty();
    }

    /** Requests that have arrived and have no replica. */
    List<RequestBatchRun> waiting() {
        return unfinished.isEmpty()
                ? List.of()
                : unfinished.values().stream()
                        .filter(RequestBatchRun::isWaiting)
                        .toList();
    }

    /** Lets requests look for warm replicas and replicas come up, in the order of the workload. */
    void serve(int clock, Pods pods, EventSeconds events) {
        while (arrived < all.size() && all.get(arrived).row().second() <= clock) {
            RequestBatchRun request = all.get(arrived++);
            unfinished.put(request.index(), request);
        }
        List<RequestBatchRun> done = new ArrayList<>();
        for (RequestBatchRun request : unfinished.values()) {
            if (request.isWaiting()) {
                pods.warm(request.row().application()).ifPresent(pod -> {
                    request.startWarm(clock);
                    pod.serve(request.completed());
                    events.add(request.completed(), true);
                    done.add(request);
                });
            } else if (request.isUp(clock)) {
                request.completes();
                Pod pod = podOf(request, pods);
                pod.busyUntil(request.completed());
                if (request.completed() <= clock) {
                    pods.served(pod, clock);
                }
                done.add(request);
            }
        }
        done.forEach(request -> unfinished.remove(request.index()));
        pods.removeIf(Pod::isGone);
    }

    private static Pod podOf(RequestBatchRun founder, Pods pods) {
        return pods.all().filter(pod -> pod.founder() == founder).findFirst().orElseThrow();
    }
}
