package io.lendstream.actuator;

import io.lendstream.actuator.driver.Driver;
import io.lendstream.actuator.driver.DriverListener;
import io.lendstream.actuator.standby.Active;
import io.lendstream.core.actuation.Actuation;
import io.lendstream.core.actuation.DriverEvent;
import io.lendstream.core.actuation.Order;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.id.Tenant;
import io.lendstream.service.kafka.RecordReader;
import io.lendstream.service.time.TimeMode;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Turns by the wall clock: decisions are processed as they arrive, and orders are passed to the driver. Decisions and
 * reports are saved on disk before a report is sent or an order is passed on.
 *
 * <p>While another instance may be active, no decision is processed, and the driver starts nothing. Leases, notices and
 * deadlines are enforced.
 */
final class WallClockTurns implements Turns {
    private static final Logger LOG = LoggerFactory.getLogger(WallClockTurns.class);
    /** The longest wait of a driver's event. */
    private static final Duration BETWEEN_DRIVER_EVENTS = Duration.ofMillis(10);

    private final ActuatorSettings settings;
    private final RecordTransport transport;
    private final DecisionProcessor processor;
    private final Inventory inventory;
    private final SelfDescription description;
    private final FoundTenants found;
    private final StateSaver saver;
    private final Active active;
    private final InstantSource wallClock;

    private final Queue<DriverEvent> driverEvents = new ConcurrentLinkedQueue<>();
    private final Queue<TrainingProgress> progress = new ConcurrentLinkedQueue<>();
    private Optional<Driver> driver = Optional.empty();
    private Optional<Instant> stockedAt = Optional.empty();
    private boolean mayStart = true;

    WallClockTurns(
            ActuatorSettings settings,
            RecordTransport transport,
            DecisionProcessor processor,
            KnownDeclarations known,
            StateSaver saver,
            Active active,
            InstantSource wallClock) {
        this.settings = settings;
        this.transport = transport;
        this.processor = processor;
        this.inventory = known.inventory();
        this.description = known.description();
        this.found = known.found();
        this.saver = saver;
        this.active = active;
        this.wallClock = wallClock;
    }

    @Override
    public TimeMode mode() {
        return TimeMode.WALL;
    }

    @Override
    public void restore(ActuatorState state) {
        // The wall clock advances by itself.
    }

    @Override
    public void on(RecordReader reader, Executor to) {
        // The wall clock needs no topic.
    }

    @Override
    public void resume() {
        driver = settings.driven().map(driven -> driven.maker().make(inventory, driverListener()));
        driver.ifPresent(each -> each.startOnlyWhile(active::mayStart));
        found.use(driver.flatMap(Driver::finder));
        boolean isSeen = driver.map(Driver::seesWhatRuns).orElse(false);
        List<Order> standing = processor.actuation().resume(wallClock.instant(), isSeen);
        standing.forEach(this::order);
        Set<Tenant> placed = standing.stream()
                .filter(Order.Place.class::isInstance)
                .map(place -> ((Order.Place) place).tenant())
                .collect(Collectors.toSet());
        driver.ifPresent(each -> each.resumed(placed));
    }

    private DriverListener driverListener() {
        return new DriverListener() {
            @Override
            public void tell(DriverEvent driverEvent) {
                driverEvents.add(driverEvent);
            }

            @Override
            public void tell(TrainingProgress report) {
                progress.add(report);
            }
        };
    }

    @Override
    public Duration patience(Duration most) {
        if (driver.isPresent()) {
            return BETWEEN_DRIVER_EVENTS;
        }
        Optional<Instant> next = processor.actuation().nextEventAt();
        if (next.isEmpty()) {
            return most;
        }
        Duration until = Duration.between(wallClock.instant(), next.get());
        return until.isNegative() ? Duration.ZERO : until.compareTo(most) < 0 ? until.plusMillis(1) : most;
    }

    @Override
    public void turn() {
        Instant now = wallClock.instant().truncatedTo(ChronoUnit.MILLIS);
        Actuation actuation = processor.actuation();
        var reports = new ArrayList<ActuationReport>();
        checkActive();
        if (processor.hasCaughtUp() && mayStart) {
            reports.addAll(processor.takeAll(now));
        }
        for (DriverEvent driverEvent = driverEvents.poll(); driverEvent != null; driverEvent = driverEvents.poll()) {
            reports.addAll(actuation.done(driverEvent, now));
        }
        reports.addAll(actuation.advance(now));
        boolean hasHappened = !reports.isEmpty();
        reports.addAll(stock(now));
        reports.addAll(processor.hasCaughtUp() ? found.due(now) : List.of());
        processor.publish(reports);
        if (processor.hasCaughtUp()) {
            description.due(now).forEach(transport::publish);
            description.mismatch().ifPresent(LOG::warn);
        }
        for (TrainingProgress report = progress.poll(); report != null; report = progress.poll()) {
            transport.publish(report);
        }
        List<Order> orders = actuation.orders();
        if (hasHappened || !orders.isEmpty()) {
            saver.save(answered());
        }
        transport.release();
        orders.forEach(this::order);
    }

    /** After a time without the group, the driver has dropped orders: it gets all that stand again. */
    private void checkActive() {
        boolean before = mayStart;
        mayStart = active.mayStart();
        if (!mayStart) {
            if (before) {
                LOG.warn(
                        "{} cannot reach its group on the broker, so another instance may become active: it starts nothing, and still enforces leases, notices and deadlines",
                        settings.name());
            }
            return;
        }
        boolean hasDropped = driver.map(Driver::hasDroppedOrders).orElse(false); // also between two turns
        if (before && !hasDropped) {
            return;
        }
        LOG.info("{} is still the active instance and goes on", settings.name());
        processor.actuation().orders().forEach(this::order);
        processor.actuation().resume(wallClock.instant(), false).forEach(this::order);
    }

    /**
     * Not at once: the tenants are known after the driver has answered the standing orders. Not before the topics are
     * read: the saved state may be older than the last decisions.
     */
    private List<ActuationReport> stock(Instant now) {
        if (!processor.hasCaughtUp()) {
            return List.of();
        }
        Instant last = stockedAt.orElse(now);
        boolean isTime = !now.isBefore(last.plus(settings.stockEvery()));
        stockedAt = Optional.of(isTime ? now : last);
        return isTime ? processor.actuation().stock() : List.of();
    }

    private void order(Order order) {
        driver.ifPresent(each -> each.take(order));
    }

    @Override
    public Optional<Instant> answered() {
        return Optional.empty();
    }

    @Override
    public void close() {
        driver.ifPresent(Driver::close);
    }
}
