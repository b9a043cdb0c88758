package io.lendstream.simulator;

import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.id.GpuId;
import io.lendstream.simulator.workload.Request;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * A service that answers single requests. A request is begun at once where a warm replica is idle, else in the order of
 * arrival when one comes up or becomes idle. Warm replicas are alike, so that only their number counts, unless the
 * service declares its capacity by kind of GPU: then a request goes to the fastest replica that is idle. A request has
 * its GPU as soon as a replica is on its way up for it, though it may be answered by another in the end.
 *
 * <p>Besides its windows it reports whenever the number of its requests changes, so that the need for a replica, or its
 * end, is known before the end of the window.
 */
final class RequestRun extends ServiceRun {
    private static final Comparator<Running> FIRST_DONE =
            Comparator.comparing(Running::completes).thenComparingLong(Running::number);

    private final List<Request> requests;
    private final int concurrency;
    private final GpuPlaces places;
    private final GpuMeter meter;
    private final Instant origin;
    private final Deque<Waiting> queue = new ArrayDeque<>();
    private final PriorityQueue<Running> running = new PriorityQueue<>(FIRST_DONE);
    private final List<RequestResult> answered = new ArrayList<>();
    private Distribution latencySeconds = new Distribution();
    private int arrivedSoFar;
    private long begun;
    private long arrivals;
    private long completions;
    private int reportedInSystem;
    private long coldStarts;
    private Instant clock;

    /** Places on replicas that are on their way up and that no request waits for. */
    private int spare;

    /** Requests that run on each replica, where replicas are not alike. */
    private final Map<GpuId, Integer> busy = new HashMap<>();

    /** A request that waits, and since when there has been a GPU for it. */
    private static final class Waiting {
        private final Request request;
        private Optional<Instant> allotted = Optional.empty();

        Waiting(Request request) {
            this.request = request;
        }
    }

    /** @param on the GPU, where replicas are not alike */
    private record Running(
            Request request,
            Instant started,
            Instant begins,
            Instant completes,
            boolean cold,
            long number,
            Optional<GpuId> on) {
        Running on(Optional<GpuId> other) {
            return new Running(request, started, begins, completes, cold, number, other);
        }
    }

    RequestRun(
            InferenceService service,
            List<Request> requests,
            WorldSettings settings,
            GpuPlaces places,
            GpuMeter meter,
            Instant start) {
        super(service, settings, places, start);
        if (service.hardware().hasRoles()) {
            throw new IllegalArgumentException(
                    "service %s has roles, so its demand must be a rate; single requests are answered by one replica"
                            .formatted(service.service()));
        }
        this.requests = requests;
        this.concurrency = service.replicaConcurrency().orElse(1);
        this.places = places;
        this.meter = meter;
        this.origin = start;
        this.clock = start;
    }

    @Override
    void renamed(UnaryOperator<GpuId> names) {
        Map<GpuId, Integer> counts = new HashMap<>();
        busy.forEach((gpu, count) -> counts.put(names.apply(gpu), count));
        busy.clear();
        busy.putAll(counts);
        List<Running> all = List.copyOf(running);
        running.clear();
        all.forEach(one -> running.add(one.on(one.on().map(names))));
    }

    @Override
    void beforeChange(Instant at) {
        // Requests change only at their own moments; a change that comes late finds the replicas of before.
    }

    @Override
    void begins(Instant at) {
        for (int place = 0; place < concurrency; place++) {
            allot(at);
        }
    }

    /** There is a GPU for one more request. */
    private void allot(Instant at) {
        Optional<Waiting> next =
                queue.stream().filter(one -> one.allotted.isEmpty()).findFirst();
        next.ifPresentOrElse(one -> one.allotted = Optional.of(later(at, one.request.at())), () -> spare++);
    }

    @Override
    void cameUp(Instant begun, Instant at) {
        for (int place = 0; place < concurrency; place++) {
            if (queue.isEmpty() || free() == 0) {
                spare = Math.max(0, spare - 1);
                continue;
            }
            Waiting first = queue.removeFirst();
            if (first.allotted.isEmpty()) {
                spare = Math.max(0, spare - 1);
            }
            coldStarts++;
            Instant started = first.allotted.orElse(later(begun, first.request.at()));
            begin(first.request, started, later(at, first.request.at()), true);
        }
    }

    @Override
    void woke(Instant begun, Instant at) {
        cameUp(begun, at);
    }

    @Override
    void wentAway(Instant at) {
        takeAllotmentsBack();
        if (!areAlike()) {
            stopLost();
            return;
        }
        int most = (replicas() + leavingReplicas()) * concurrency;
        List<Running> latestFirst = running.stream()
                .sorted(Comparator.comparingLong(Running::number).reversed())
                .toList();
        for (int i = 0; i < latestFirst.size() - most; i++) {
            running.remove(latestFirst.get(i));
            queue.addFirst(new Waiting(latestFirst.get(i).request()));
        }
    }

    /** Requests on replicas that are gone wait again. */
    private void stopLost() {
        List<Running> lost = running.stream()
                .filter(one -> one.on().filter(gpu -> !isUp(gpu)).isPresent())
                .sorted(Comparator.comparingLong(Running::number).reversed())
                .toList();
        for (Running one : lost) {
            running.remove(one);
            one.on().ifPresent(busy::remove);
            queue.addFirst(new Waiting(one.request()));
        }
    }

    /**
     * Replicas may have gone that were still on their way up: the request that came last loses the GPU that was meant
     * for it.
     */
    private void takeAllotmentsBack() {
        List<Waiting> allotted = new ArrayList<>(
                queue.stream().filter(one -> one.allotted.isPresent()).toList());
        int places = warmingReplicas() * concurrency;
        spare = Math.max(0, Math.min(spare, places - allotted.size()));
        while (allotted.size() > places) {
            allotted.remove(allotted.size() - 1).allotted = Optional.empty();
        }
    }

    @Override
    Instant nextAt() {
        Instant next =
                inSystem() != reportedInSystem ? later(clock, reportedTo().plusMillis(1)) : windowEnd();
        if (arrivedSoFar < requests.size()) {
            next = earlier(next, requests.get(arrivedSoFar).at());
        }
        if (!running.isEmpty()) {
            next = earlier(next, later(clock, running.element().completes()));
        }
        return next;
    }

    @Override
    void advanceTo(Instant to, Consumer<RequestRate> said) {
        while (true) {
            Instant next = nextAt();
            if (next.isAfter(to)) {
                clock = later(clock, to);
                return;
            }
            clock = later(clock, next);
            while (!running.isEmpty() && !running.element().completes().isAfter(clock)) {
                complete(running.remove());
            }
            while (arrivedSoFar < requests.size()
                    && !requests.get(arrivedSoFar).at().isAfter(clock)) {
                arrive(requests.get(arrivedSoFar++));
            }
            boolean news = inSystem() != reportedInSystem || !windowEnd().isAfter(clock);
            if (news && clock.isAfter(reportedTo())) {
                said.accept(report(clock, arrivals, completions, running.size(), queue.size(), latencySeconds));
                arrivals = 0;
                completions = 0;
                latencySeconds = new Distribution();
                reportedInSystem = inSystem();
            }
        }
    }

    private void arrive(Request request) {
        arrivals++;
        if (queue.isEmpty() && free() > 0) {
            begin(request, request.at(), request.at(), false);
        } else {
            Waiting waiting = new Waiting(request);
            if (spare > 0) {
                spare--;
                waiting.allotted = Optional.of(request.at());
            }
            queue.addLast(waiting);
        }
    }

    private void complete(Running done) {
        completions++;
        Request request = done.request();
        done.on().ifPresent(gpu -> busy.merge(gpu, -1, Integer::sum));
        meter.computing(
                done.on().map(places::share).orElse(1.0) / concurrency,
                offset(done.begins()),
                offset(done.completes()));
        latencySeconds.add(seconds(Duration.between(request.at(), done.completes())));
        answered.add(new RequestResult(
                request.name(),
                service().service(),
                request.at(),
                done.started(),
                done.completes(),
                Duration.between(done.begins(), done.completes()),
                done.cold()));
        while (!queue.isEmpty() && free() > 0) {
            Waiting next = queue.removeFirst();
            Instant at = later(done.completes(), next.request.at());
            begin(next.request, next.allotted.orElse(at), at, false);
            if (next.allotted.isPresent()) {
                allot(at);
            }
        }
    }

    private void begin(Request request, Instant started, Instant begins, boolean cold) {
        Optional<GpuId> on = areAlike() ? Optional.empty() : fastestIdle();
        on.ifPresent(gpu -> busy.merge(gpu, 1, Integer::sum));
        Duration takes = on.map(
                        gpu -> Duration.ofMillis(Math.round(request.duration().toMillis() / speed(gpu))))
                .orElse(request.duration());
        running.add(new Running(request, started, begins, begins.plus(takes), cold, begun++, on));
    }

    /** The fastest replica with room for a request; the first of several. */
    private Optional<GpuId> fastestIdle() {
        Optional<GpuId> fastest = Optional.empty();
        double most = 0;
        for (GpuId gpu : available()) {
            if (busy.getOrDefault(gpu, 0) < concurrency && speed(gpu) > most) {
                fastest = Optional.of(gpu);
                most = speed(gpu);
            }
        }
        return fastest;
    }

    private int free() {
        if (areAlike()) {
            return replicas() * concurrency - Math.max(0, running.size() - leavingReplicas() * concurrency);
        }
        int free = 0;
        for (GpuId gpu : available()) {
            free += concurrency - busy.getOrDefault(gpu, 0);
        }
        return free;
    }

    private int inSystem() {
        return queue.size() + running.size();
    }

    @Override
    boolean isIdle() {
        return arrivedSoFar == requests.size() && inSystem() == 0;
    }

    @Override
    List<RequestResult> requests() {
        return answered;
    }

    @Override
    ServiceResult result() {
        Distribution delays = new Distribution();
        Distribution overheads = new Distribution();
        int withinSlo = 0;
        for (RequestResult one : answered) {
            delays.add(seconds(one.startDelay()));
            overheads.add(seconds(one.overhead()));
            boolean inTime = Duration.between(one.submitted(), one.completed())
                            .compareTo(service().slo())
                    <= 0;
            withinSlo += inTime ? 1 : 0;
        }
        return new ServiceResult(
                service().service(), answered.size(), coldStarts, withinSlo, inSystem(), delays, overheads);
    }

    private double offset(Instant at) {
        return seconds(Duration.between(origin, at));
    }

    private static Instant later(Instant one, Instant other) {
        return one.isAfter(other) ? one : other;
    }

    private static Instant earlier(Instant one, Instant other) {
        return one.isBefore(other) ? one : other;
    }
}
