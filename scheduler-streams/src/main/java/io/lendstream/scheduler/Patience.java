package io.lendstream.scheduler;

import io.lendstream.schemas.registry.RegistryUnavailableException;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How long to retry while the registry does not answer. No record is skipped because of it. After the last attempt
 * the stream's thread ends, and a new thread starts at the last commit.
 *
 * @param tries number of attempts
 * @param longestWait longest pause between two attempts; the first pauses are shorter
 * @param closing whether the process is ending, so that there is no reason to wait
 */
record Patience(int tries, Duration longestWait, BooleanSupplier closing) {
    private static final Logger log = LoggerFactory.getLogger(Patience.class);
    private static final Duration FIRST_WAIT = Duration.ofMillis(100);

    <T> T insist(Supplier<T> attempt) {
        Duration wait = FIRST_WAIT;
        for (int tried = 1; ; tried++) {
            try {
                return attempt.get();
            } catch (RegistryUnavailableException e) {
                if (tried >= tries || closing.getAsBoolean()) {
                    throw e;
                }
                log.warn("the registry does not answer (attempt {} of {}): {}", tried, tries, e.getMessage());
                pause(wait, e);
                wait = wait.multipliedBy(2).compareTo(longestWait) < 0 ? wait.multipliedBy(2) : longestWait;
            }
        }
    }

    private static void pause(Duration wait, RegistryUnavailableException failure) {
        try {
            Thread.sleep(wait.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw failure;
        }
    }
}
