package io.lendstream.actuator.driver;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.actuation.DriverEvent;
import io.lendstream.core.actuation.Order;
import io.lendstream.core.decision.Adopted;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
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
