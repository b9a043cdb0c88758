package io.lendstream.service;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A request to stop a service; safe for many threads. */
public final class Stop {
    private final CountDownLatch requested = new CountDownLatch(1);

    /** Asks the service to finish its current work and end. */
    public void request() {
        requested.countDown();
    }

    public boolean isRequested() {
        return requested.getCount() == 0;
    }

    /** Waits for a time, or until a stop is requested; returns whether it was. */
    public boolean waitFor(Duration length) {
        try {
            return requested.await(length.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return true;
        }
    }
}
