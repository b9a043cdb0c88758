package io.lendstream.forecaster;

import io.lendstream.core.event.ServiceName;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.ServiceCommand;
import io.lendstream.service.ServiceContext;
import io.lendstream.service.settings.Key;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import picocli.CommandLine.Command;

/** The forecaster as a process: runs the job on an embedded Flink, or submits it to a Flink cluster. */
@Command(
        name = "forecaster",
        description = "Forecasts each service's demand from its request rates: a Flink job.",
        footer = {
            "",
            "Example:",
            "  lendstream forecaster --bootstrap-server broker:9092 \\",
            "      --registry http://registry:8081 \\",
            "      --set forecaster.state-dir=/var/lib/lendstream",
            "",
            "On a Flink cluster, with the jar in forecaster/target/flink:",
            "  flink run -d JAR --bootstrap-server broker:9092 --registry http://registry:8081"
        })
public final class ForecasterMain extends ServiceCommand {
    private static final Duration LOOK = Duration.ofMillis(200);

    public static void main(String[] arguments) {
        System.exit(execute(new ForecasterMain(), arguments));
    }

    @Override
    protected ServiceName service() {
        return ServiceName.FORECASTER;
    }

    @Override
    protected List<Key<?>> keys() {
        return ForecasterSettings.KEYS;
    }

    @Override
    protected List<Topic<?>> topics() {
        return List.of(
                TopicCatalogue.REQUEST_RATES,
                TopicCatalogue.SERVICES,
                TopicCatalogue.DEMAND_FORECASTS,
                TopicCatalogue.PROGRESS);
    }

    @Override
    protected void check(ServiceContext context) {
        settings(context);
    }

    private static ForecasterSettings settings(ServiceContext context) {
        return ForecasterSettings.of(context.settings(), context.kafka(), context.topics());
    }

    @Override
    protected int serve(ServiceContext context) throws Exception {
        ForecasterSettings settings = settings(context);
        if (settings.job().mode() == ForecasterSettings.Mode.CLUSTER) {
            StreamExecutionEnvironment environment = StreamExecutionEnvironment.getExecutionEnvironment();
            new ForecasterJob(settings, Instant::now).build(environment);
            environment.execute();
            return DONE;
        }
        try (EmbeddedFlink flink = EmbeddedFlink.start(settings, context.metrics())) {
            do {
                EmbeddedFlink.State state = flink.state();
                if (state.hasEnded()) {
                    context.health().failed("the Flink job stopped: " + state.status());
                    return failed(
                            "the Flink job stopped unexpectedly (%s): %s".formatted(state.status(), flink.whyEnded()));
                }
                if (state.isRunning()) {
                    context.health().ready();
                } else {
                    context.health().notReady("the Flink job is " + state.status());
                }
            } while (!context.stop().waitFor(LOOK));
            context.health().notReady("stopping");
        }
        return DONE;
    }
}
