package io.lendstream.forecaster;

import io.lendstream.service.ServiceCommand;
import java.util.stream.Stream;

/**
 * Hands the job to the Flink cluster that this program is submitted to. It may run in the cluster's own process, so it never
 * ends that, and says by an exception that it failed.
 */
public final class ForecasterOnCluster {
    private ForecasterOnCluster() {}

    /** Takes what {@code lendstream forecaster} takes. */
    public static void main(String[] arguments) {
        String[] all = Stream.concat(Stream.of(arguments), Stream.of("--set", "forecaster.mode=cluster"))
                .toArray(String[]::new);
        var command = new ForecasterMain();
        int exit = ServiceCommand.execute(command, all);
        if (exit != 0) {
            throw new IllegalStateException(
                    "the job was not handed over: "
                            + command.failure().map(Exception::getMessage).orElse("it was called wrongly"),
                    command.failure().orElse(null));
        }
    }
}
