package io.lendstream.actuator.driver;

import io.lendstream.core.actuation.DriverEvent;
import io.lendstream.core.actuation.Order;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A driver that passes each order to an external system, which reports when it is executed. For one tenant, or one
 * GPU to be repartitioned, one order is tried at a time; a newer order replaces a waiting one. Kills never wait.
 */
abstract class ExternalDriver implements Driver {
    private static final Logger LOG = LoggerFactory.getLogger(ExternalDriver.class);
    private static final int KILLERS = 4;
    private static final String FINDS_NOTHING =
            "%s is not taken over: the drivers command and webhook find nothing that runs already; use the driver"
                    + " process";

    private final DriverListener driverListener;
    private final DriverLimits limits;
    private final ExecutorService workers;
    private final ExecutorService killers;
    private final ScheduledExecutorService timer;
    private final Map<Object, Turn> turns = new HashMap<>();
    /** The units on which tenants run by executed orders. */
    private final Map<Tenant, Set<GpuId>> running = new HashMap<>(); // guarded by turns

    private volatile BooleanSupplier mayStart = () -> true;
    private final AtomicBoolean dropped = new AtomicBoolean();
    private long nextStart = System.nanoTime();

    /** The order that is tried for a tenant, and the order to try next. */
    private static final class Turn {
        Order order;

        @Nullable
        Order next;

        Turn(Order order) {
            this.order = order;
        }
    }

    ExternalDriver(String name, DriverLimits limits, DriverListener driverListener) {
        this.driverListener = driverListener;
        this.limits = limits;
        this.workers = DriverThreads.pool(limits.concurrency(), name);
        this.killers = DriverThreads.pool(KILLERS, name + "-kill");
        this.timer = DriverThreads.timer(name + "-timer");
    }

    /** Makes one attempt; must end within the time limit. */
    abstract Attempt attempt(Order order);

    @Override
    public final void startOnlyWhile(BooleanSupplier next) {
        mayStart = next;
    }

    @Override
    public final boolean hasDroppedOrders() {
        return dropped.getAndSet(false);
    }

    final DriverLimits limits() {
        return limits;
    }

    @Override
    public final void take(Order order) {
        if (order instanceof Order.Force force) {
            killers.execute(() -> kill(force));
            return;
        }
        if (order instanceof Order.Place place && !place.adopted().isEmpty()) {
            tellHopeless(order, FINDS_NOTHING.formatted(place.adopted().get(0).user()));
            return;
        }
        synchronized (turns) {
            Turn turn = turns.get(key(order));
            if (turn != null) {
                turn.next = order;
                return;
            }
            turns.put(key(order), new Turn(order));
        }
        workers.execute(() -> go(key(order)));
    }

    private static Object key(Order order) {
        if (order instanceof Order.Place place) {
            return place.tenant();
        }
        return order instanceof Order.Cut cut
                ? cut.gpu()
                : "batching of " + ((Order.Batch) order).batching().service();
    }

    /** A tenant that is still being started there may come up after the kill; the next kill then reports its end. */
    private void kill(Order.Force force) {
        boolean placing = isPlacing(force);
        Attempt attempt = tried(force);
        if (!(attempt instanceof Attempt.Done)) {
            LOG.warn("cannot kill: {} ({})", OrderJson.of(force), attempt);
        } else if (placing || isPlacing(force)) {
            LOG.info(
                    "{}: killed on {} while it was being started there; it will be killed again",
                    force.tenant(),
                    force.units());
        } else {
            tellDone(force);
        }
    }

    private boolean isPlacing(Order.Force force) {
        synchronized (turns) {
            Turn turn = turns.get(force.tenant());
            return turn != null
                    && turn.order instanceof Order.Place place
                    && !Collections.disjoint(place.units(), force.units());
        }
    }

    private void go(Object key) {
        Order order = current(key);
        waitForTurn();
        if (startsSomething(order) && !mayStart.getAsBoolean()) {
            LOG.info("{}: dropped, because another instance of the actuator may be active", order.decision());
            dropped.set(true);
            Optional<Order.Place> part = partToLeave(order);
            if (part.isPresent() && !isTriedToTheEnd(key, part.get(), this::tellLeft, why -> {})) {
                return;
            }
        } else if (!isTriedToTheEnd(key, order, this::tellDone, why -> tellHopeless(order, why))) {
            return;
        }
        if (advance(key)) {
            workers.execute(() -> go(key));
        }
    }

    /** Tries an order once; false if it is to be tried again later. */
    private <T extends Order> boolean isTriedToTheEnd(
            Object key, T order, Consumer<? super T> done, Consumer<String> hopeless) {
        Attempt attempt = tried(order);
        boolean superseded = isSuperseded(key);
        if (attempt instanceof Attempt.Done) {
            done.accept(order);
        } else if (attempt instanceof Attempt.Hopeless never) {
            hopeless.accept(never.why());
        } else if (attempt instanceof Attempt.Again again && !superseded) {
            LOG.info("{}: retry in {}: {}", order.decision(), again.after(), again.why());
            var unused = timer.schedule(() -> goAgain(key), again.after().toMillis(), TimeUnit.MILLISECONDS);
            return false;
        }
        return true;
    }

    /**
     * The part of an order by which a tenant leaves units and starts on none; empty if there is no such part, if it is
     * not known where the tenant runs, or if a replica would run on some of its units only.
     */
    private Optional<Order.Place> partToLeave(Order order) {
        if (!(order instanceof Order.Place place) || place.leaving().isEmpty()) {
            return Optional.empty();
        }
        Set<GpuId> here;
        synchronized (turns) {
            here = Set.copyOf(running.getOrDefault(place.tenant(), Set.of()));
        }
        if (!here.containsAll(place.leaving())
                || place.together().stream()
                        .anyMatch(units -> !here.containsAll(units) && !Collections.disjoint(here, units))) {
            return Optional.empty();
        }
        Predicate<GpuId> isStarted = gpu -> here.contains(gpu) || !place.units().contains(gpu);
        return Optional.of(new Order.Place(
                place.decision(),
                place.tenant(),
                place.units().stream().filter(here::contains).toList(),
                place.leaving(),
                place.allocation()
                        .map(all -> all.on(all.gpus().stream().filter(isStarted).toList())),
                place.by(),
                place.replicas().stream()
                        .filter(replica -> !Collections.disjoint(here, replica.units()))
                        .toList(),
                List.of()));
    }

    /** The order itself is not in force. */
    private void tellLeft(Order.Place part) {
        runsOn(part.tenant(), part.units());
        driverListener.tell(new DriverEvent.Stopped(part.tenant(), part.leaving(), false, ""));
    }

    private void runsOn(Tenant tenant, List<GpuId> units) {
        synchronized (turns) {
            running.put(tenant, new HashSet<>(units));
            running.values().removeIf(Set::isEmpty);
        }
    }

    /** Whether an order may start something; orders that only take units from a tenant do not. */
    private boolean startsSomething(Order order) {
        if (!(order instanceof Order.Place place)) {
            return true;
        }
        synchronized (turns) {
            return !running.getOrDefault(place.tenant(), Set.of()).containsAll(place.units());
        }
    }

    /** Retries a failed order, or tries the order that has replaced it. */
    private void goAgain(Object key) {
        if (isSuperseded(key)) {
            advance(key);
        }
        workers.execute(() -> go(key));
    }

    private Order current(Object key) {
        synchronized (turns) {
            return Objects.requireNonNull(turns.get(key)).order;
        }
    }

    private boolean isSuperseded(Object key) {
        synchronized (turns) {
            return Objects.requireNonNull(turns.get(key)).next != null;
        }
    }

    /** Whether there is an order to try next. */
    private boolean advance(Object key) {
        synchronized (turns) {
            Turn turn = Objects.requireNonNull(turns.get(key));
            if (turn.next == null) {
                turns.remove(key);
                return false;
            }
            turn.order = turn.next;
            turn.next = null;
            return true;
        }
    }

    private Attempt tried(Order order) {
        try {
            return attempt(order);
        } catch (RuntimeException e) {
            LOG.error("an attempt at {} failed unexpectedly", OrderJson.of(order), e);
            return new Attempt.Hopeless(e.toString());
        }
    }

    private void waitForTurn() {
        long at;
        synchronized (this) {
            long gap = Math.round(1e9 / limits.perSecond());
            at = Math.max(nextStart, System.nanoTime());
            nextStart = at + gap;
        }
        long wait = at - System.nanoTime();
        if (wait > 0) {
            try {
                TimeUnit.NANOSECONDS.sleep(wait);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void tellDone(Order order) {
        if (order instanceof Order.Place place) {
            runsOn(place.tenant(), place.units());
        } else if (order instanceof Order.Force force) {
            synchronized (turns) {
                running.getOrDefault(force.tenant(), new HashSet<>()).removeAll(Set.copyOf(force.units()));
            }
        }
        DriverEvents.allOf(order).forEach(driverListener::tell);
    }

    private void tellHopeless(Order order, String why) {
        Optional<DriverEvent> driverEvent = DriverEvents.failureOf(order, why);
        driverEvent.ifPresent(driverListener::tell);
    }

    @Override
    public final void close() {
        for (ExecutorService each : List.of(timer, workers, killers)) {
            each.shutdownNow();
        }
        try {
            workers.awaitTermination(Duration.ofSeconds(5).toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
