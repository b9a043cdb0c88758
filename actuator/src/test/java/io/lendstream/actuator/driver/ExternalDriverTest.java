package io.lendstream.actuator.driver;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lendstream.core.actuation.DriverEvent;
import io.lendstream.core.actuation.Order;
import io.lendstream.core.decision.Adopted;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ExternalDriverTest {
    private final CountDownLatch trying = new CountDownLatch(1);
    private final CountDownLatch mayEnd = new CountDownLatch(1);
    private final Queue<Thread> triedOn = new ConcurrentLinkedQueue<>();
    private final Queue<Throwable> uncaught = new ConcurrentLinkedQueue<>();
    private final Thread.@Nullable UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();

    @BeforeEach
    void listen() {
        Thread.setDefaultUncaughtExceptionHandler((thread, error) -> uncaught.add(error));
    }

    @AfterEach
    void stopListening() {
        Thread.setDefaultUncaughtExceptionHandler(before);
    }

    /** Its single attempt ends when the test allows it, despite interrupts, and asks for a retry. */
    private final class Slow extends ExternalDriver {
        Slow(RecordingListener heard) {
            super("slow", new DriverLimits(1, 1000, ofSeconds(10)), heard);
        }

        @Override
        Attempt attempt(Order order) {
            triedOn.add(Thread.currentThread());
            trying.countDown();
            while (true) {
                try {
                    mayEnd.await();
                    return new Attempt.Again(ofMillis(1), "later");
                } catch (InterruptedException e) {
                    // goes on
                }
            }
        }

        @Override
        public List<String> plan(Order order) {
            return List.of();
        }

        @Override
        public List<String> complaints() {
            return List.of();
        }
    }

    @Test
    void anOrderToTakeSomethingOverIsRefusedAndNotTried() {
        RecordingListener heard = new RecordingListener();
        try (Slow driver = new Slow(heard)) {
            driver.take(new Order.Place(
                    Orders.decision(1),
                    Orders.CHAT,
                    Orders.gpus("a"),
                    List.of(),
                    Optional.empty(),
                    Orders.BY,
                    List.of(),
                    List.of(new Adopted("process/7-1", Orders.gpus("a")))));
        }

        assertThat(heard.deeds())
                .containsExactly(new DriverEvent.Failed(
                        Orders.CHAT,
                        Orders.decision(1),
                        "process/7-1 is not taken over: the drivers command and webhook find nothing that runs"
                                + " already; use the driver process"));
        assertThat(triedOn).isEmpty();
    }

    /** Each attempt is recorded, and executed at once unless it is to be retried. */
    private static final class Quick extends ExternalDriver {
        private final Queue<Order> tried = new ConcurrentLinkedQueue<>();
        private volatile boolean isRetried;

        Quick(RecordingListener heard) {
            super("quick", new DriverLimits(1, 1000, ofSeconds(10)), heard);
        }

        @Override
        Attempt attempt(Order order) {
            tried.add(order);
            return isRetried ? new Attempt.Again(ofMillis(5), "later") : new Attempt.Done();
        }

        @Override
        public List<String> plan(Order order) {
            return List.of();
        }

        @Override
        public List<String> complaints() {
            return List.of();
        }
    }

    @Test
    void whileAnotherInstanceMayBeActiveNothingIsStartedAndUnitsAreStillTaken() {
        RecordingListener heard = new RecordingListener();
        AtomicBoolean mayStart = new AtomicBoolean(true);
        Order both = Orders.place(1, Orders.JOB, Orders.gpus("a", "b"), List.of());
        Order more = Orders.place(2, Orders.JOB, Orders.gpus("a", "b", "c"), List.of());
        Order replica = Orders.place(3, Orders.CHAT, Orders.gpus("d"), List.of());
        Order less = Orders.place(4, Orders.JOB, Orders.gpus("a"), Orders.gpus("b"));
        Order kill = new Order.Force(Orders.decision(4), Orders.JOB, Orders.gpus("b"));
        try (Quick driver = new Quick(heard)) {
            driver.startOnlyWhile(mayStart::get);
            driver.take(both);
            await().until(() -> driver.tried.contains(both));
            mayStart.set(false);

            driver.take(more);
            driver.take(replica);
            driver.take(less);
            driver.take(kill);
            await().until(() -> driver.tried.contains(less) && driver.tried.contains(kill));
            assertThat(driver.tried).doesNotContain(more, replica);

            mayStart.set(true);
            driver.take(replica);
            await().until(() -> driver.tried.contains(replica));
        }
        assertThat(heard.deeds()).noneMatch(DriverEvent.Failed.class::isInstance);
    }

    /** Else a lease that ends while the instance is cut off would end in a kill without a checkpoint. */
    @Test
    void whileAnotherInstanceMayBeActiveUnitsAreTakenByOrdersThatWouldStartSomethingToo() {
        RecordingListener heard = new RecordingListener();
        AtomicBoolean mayStart = new AtomicBoolean(true);
        Order both = Orders.place(1, Orders.JOB, Orders.gpus("a", "b"), List.of());
        Order exchange = Orders.place(2, Orders.JOB, Orders.gpus("a", "c"), Orders.gpus("b"));
        Order unknown = Orders.place(3, Orders.CHAT, Orders.gpus("d"), Orders.gpus("e"));
        try (Quick driver = new Quick(heard)) {
            driver.startOnlyWhile(mayStart::get);
            driver.take(both);
            await().until(() -> heard.deeds().size() == 2);
            assertThat(driver.hasDroppedOrders()).isFalse();
            mayStart.set(false);

            driver.take(unknown);
            driver.take(exchange);
            await().until(() -> heard.deeds().size() == 3);
            assertThat(heard.deeds())
                    .last()
                    .isEqualTo(new DriverEvent.Stopped(Orders.JOB, Orders.gpus("b"), false, ""));
            assertThat(driver.tried)
                    .containsExactly(both, Orders.place(2, Orders.JOB, Orders.gpus("a"), Orders.gpus("b")));
            assertThat(driver.hasDroppedOrders()).isTrue();
            assertThat(driver.hasDroppedOrders()).isFalse();

            mayStart.set(true);
            driver.take(exchange);
            await().until(() -> driver.tried.contains(exchange));
        }
    }

    @Test
    void anOrderThatIsRetriedIsDroppedWhenAnotherInstanceMayBeActive() throws InterruptedException {
        AtomicBoolean mayStart = new AtomicBoolean(true);
        try (Quick driver = new Quick(new RecordingListener())) {
            driver.startOnlyWhile(mayStart::get);
            driver.isRetried = true;
            driver.take(Orders.place(1, Orders.JOB, Orders.gpus("a"), List.of()));
            await().until(() -> driver.tried.size() > 3);

            mayStart.set(false);
            Thread.sleep(50);
            int before = driver.tried.size();
            mayStart.set(true);
            Thread.sleep(50);

            assertThat(driver.tried).hasSize(before);
        }
    }

    @Test
    void aTryThatEndsAfterTheDriverWasClosedIsTheLastAndBreaksNothing() throws Exception {
        Slow driver = new Slow(new RecordingListener());
        driver.take(Orders.place(1, Orders.JOB, Orders.gpus("a"), List.of()));
        trying.await();
        Thread closing = new Thread(driver::close);
        closing.start();
        while (!closing.getState().equals(Thread.State.TIMED_WAITING)) {
            Thread.onSpinWait();
        }

        mayEnd.countDown();
        closing.join();
        driver.take(Orders.place(2, Orders.JOB, Orders.gpus("a"), List.of()));

        Thread worker = triedOn.element();
        worker.join();
        assertThat(triedOn).hasSize(1);
        assertThat(uncaught).isEmpty();
    }
}
