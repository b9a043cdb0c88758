package io.lendstream.service;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Whether a service has been told to stop; any thread may tell or ask. */
public final class Stop {
    private final CountDownLatch requested = new CountDownLatch(1);

    /** Tells the service to finish what it is doing and end. */
    public void request() {
        requested.countDown();
    }

    public boolean isRequested() {
        return requested.getCount() == 0;
    }

    /** Waits that long, or until it is told to stop; whether it was. */
    public boolean waitFor(Duration length) {
        try {
            return requested.await(length.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return true;
        }
    }
}
