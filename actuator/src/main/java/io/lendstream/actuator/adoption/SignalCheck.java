package io.lendstream.actuator.adoption;

import java.io.File;
import java.io.IOException;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** Whether this user may end a process, by signal 0, which changes nothing. */
interface SignalCheck {
    /** Why a process cannot be signalled; empty if it can. */
    Optional<String> refusal(long pid);

    /** By the shell, because Java has no signal 0. */
    static Optional<String> byShell(long pid) {
        var builder = new ProcessBuilder("sh", "-c", "kill -0 \"$1\"", "sh", Long.toString(pid))
                .redirectInput(new File("/dev/null"))
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD);
        builder.environment().keySet().retainAll(Set.of("PATH"));
        try {
            Process check = builder.start();
            if (check.waitFor(5, TimeUnit.SECONDS) && check.exitValue() == 0) {
                return Optional.empty();
            }
            check.destroyForcibly();
            return Optional.of("the actuator may not signal it; run the actuator as the same user, as root, or with the"
                    + " capability CAP_KILL");
        } catch (IOException e) {
            return Optional.of("the actuator cannot run sh to check whether it may signal it: " + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.of("the actuator stops");
        }
    }
}
