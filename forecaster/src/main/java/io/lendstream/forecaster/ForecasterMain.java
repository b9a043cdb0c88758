package io.lendstream.forecaster;

import java.time.Instant;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** Runs the forecaster: in this process, or, submitted to a Flink cluster, there. */
public final class ForecasterMain {
    private ForecasterMain() {}

    public static void main(String[] args) throws Exception {
        ForecasterSettings settings = ForecasterSettings.of(args[0], args[1]);
        try (EmbeddedFlink flink = EmbeddedFlink.start(settings)) {
            flink.awaitEnd();
        }
    }

    static void submit(ForecasterSettings settings) throws Exception {
        StreamExecutionEnvironment environment = StreamExecutionEnvironment.getExecutionEnvironment();
        new ForecasterJob(settings, Instant::now).build(environment);
        environment.execute();
    }
}
