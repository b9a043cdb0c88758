package io.lendstream.service;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.lendstream.core.event.ServiceName;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.settings.Key;
import io.lendstream.service.settings.Settings;
import io.lendstream.service.settings.SettingsException;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;

class ServiceCommandTest {
    private static final Key<Integer> COUNT = Key.count("actuator.count", 1, 9, 3, "How many.");

    private final PrintStream stderr = System.err;
    private final PrintStream stdout = System.out;
    private final ByteArrayOutputStream said = new ByteArrayOutputStream();

    @AfterEach
    void giveTheStreamsBack() {
        System.setErr(stderr);
        System.setOut(stdout);
    }

    @Test
    void aServiceThatIsDoneExitsWithZero() {
        assertThat(run(new Sample(false), "--set", "actuator.count=5")).isZero();
    }

    @Test
    void aWrongSettingIsOneLineAndExitsWithTwo() {
        assertThat(run(new Sample(false), "--set", "actuator.cuont=5")).isEqualTo(2);
        assertThat(text())
                .hasLineCount(1)
                .matches("(?s)\\d{4}-\\d\\d-\\d\\dT[0-9:.]+Z +ERROR ServiceCommand .*")
                .endsWith(
                        " actuator.cuont (--set) is not a setting; did you mean actuator.count? Correct it, or leave it"
                                + " out.\n");
    }

    @Test
    void aWrongOptionExitsWithTwoAndNamesTheRightOne() {
        assertThat(run(new Sample(false), "--sett", "x=1")).isEqualTo(2);
        assertThat(text())
                .isEqualTo("there is no option '--sett'; did you mean --set? See lendstream actuator --help.\n");
    }

    @Test
    void helpShowsUsageAndExitsWithZero() {
        assertThat(run(new Sample(false), "--help")).isZero();
        assertThat(text())
                .startsWith("Counts to nine.\n\nUsage: lendstream actuator [OPTIONS]")
                .contains("--bootstrap-server")
                .contains("--set");
    }

    @Test
    void everySettingIsListedWithoutABroker() {
        assertThat(run(new Sample(true), "--list-settings")).isZero();
        assertThat(text())
                .contains("| `actuator.count` | `LENDSTREAM_ACTUATOR_COUNT` |")
                .contains("| `topic-prefix` |");
    }

    @Test
    void aBrokerThatIsNotThereIsOneLineAndExitsWithOne() {
        assertThat(run(
                        new Sample(true),
                        "--bootstrap-server",
                        "127.0.0.1:1",
                        "--set",
                        "connect-timeout=1s",
                        "--set",
                        "wait-for-broker=0s"))
                .isEqualTo(1);
        assertThat(text())
                .endsWith("kafka.bootstrap.servers is 127.0.0.1:1, and no broker answered there within 1s. Start one"
                        + " ('lendstream demo' brings its own), or give the right address with --bootstrap-server.\n");
    }

    @Test
    void anAddressThatIsNoneIsOneLineAndExitsWithTwo() {
        assertThat(run(new Sample(true), "--bootstrap-server", "nonsense")).isEqualTo(2);
        assertThat(text())
                .endsWith(
                        "kafka.bootstrap.servers is nonsense, but must be HOST:PORT, or several between commas. Give the"
                                + " address with --bootstrap-server, such as localhost:9092.\n");
    }

    @Test
    void anUnknownHostIsOneLineAndExitsWithOne() {
        assertThat(run(new Sample(true), "--bootstrap-server", "unknown.invalid:9092"))
                .isEqualTo(1);
        assertThat(text())
                .endsWith("kafka.bootstrap.servers is unknown.invalid:9092, but no host of that name is known. Give the"
                        + " right address with --bootstrap-server.\n");
    }

    @Test
    void anArgumentThatIsNoneIsOneLine() {
        assertThat(run(new Sample(false), "frob")).isEqualTo(2);
        assertThat(text()).isEqualTo("lendstream actuator takes no argument 'frob'; see lendstream actuator --help.\n");
    }

    @Test
    void itsOwnSettingsAreCheckedBeforeABrokerIsAsked() {
        assertThat(run(new Sample(true), "--bootstrap-server", "127.0.0.1:1", "--set", "actuator.count=8"))
                .isEqualTo(2);
        assertThat(text()).endsWith(" ERROR ServiceCommand eight\n");
    }

    @Test
    void settingsCanBeCheckedWithoutABroker() {
        assertThat(run(new Sample(true), "--check", "--bootstrap-server", "127.0.0.1:1"))
                .isZero();
        assertThat(run(new Sample(true), "--check", "--bootstrap-server", "127.0.0.1:1", "--set", "actuator.count=8"))
                .isEqualTo(2);
        assertThat(text()).as("a check prints, it does not log").isEqualTo("eight\n");
    }

    @Test
    void anUnexpectedFailureExitsWithOne() {
        assertThat(run(new Sample(false), "--set", "actuator.count=9")).isEqualTo(1);
    }

    @Test
    void theServicesMetricsHaveAHelpText() {
        Sample sample = new Sample(false);

        assertThat(run(sample)).isZero();

        assertThat(sample.scraped)
                .contains("# HELP lendstream_decisions_total Decisions by kind: ")
                .contains("lendstream_decisions_total{kind=\"lend\",service=\"actuator\"} 0.0");
    }

    @Test
    void theErrorThatEndsAServiceIsALineEvenIfTheLogIsOff() {
        var root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
        Level before = root.getLevel();
        root.setLevel(Level.OFF);
        try {
            assertThat(run(new Sample(false), "--set", "actuator.count=8")).isEqualTo(2);
            assertThat(run(new Sample(false), "--set", "actuator.count=9")).isEqualTo(1);
        } finally {
            root.setLevel(before);
        }

        assertThat(text()).isEqualTo("eight\nstopped by a failure: java.lang.IllegalStateException: nine\n");
    }

    private int run(ServiceCommand command, String... arguments) {
        var stream = new PrintStream(said, true, StandardCharsets.UTF_8);
        System.setErr(stream);
        System.setOut(stream);
        return ServiceCommand.execute(command, arguments);
    }

    private String text() {
        return said.toString(StandardCharsets.UTF_8);
    }

    @Command(name = "sample", description = "Counts to nine.")
    private static final class Sample extends ServiceCommand {
        private final boolean needsKafka;
        private String scraped = "";

        Sample(boolean needsKafka) {
            this.needsKafka = needsKafka;
        }

        @Override
        protected ServiceName service() {
            return ServiceName.ACTUATOR;
        }

        @Override
        protected List<Key<?>> keys() {
            return List.of(COUNT);
        }

        @Override
        protected List<Topic<?>> topics() {
            return List.of(TopicCatalogue.NODES);
        }

        @Override
        protected boolean needsKafka(Settings settings) {
            return needsKafka;
        }

        @Override
        protected void check(ServiceContext context) {
            if (context.settings().get(COUNT) == 8) {
                throw new SettingsException("eight");
            }
        }

        @Override
        protected int serve(ServiceContext context) {
            context.metrics().counter("lendstream.decisions", "kind", "lend");
            scraped = context.metrics().scrape();
            if (context.settings().get(COUNT) == 9) {
                throw new IllegalStateException("nine");
            }
            return DONE;
        }
    }
}
