package io.lendstream.agent.exposition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.prometheus.metrics.expositionformats.OpenMetricsTextFormatWriter;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.Exemplar;
import io.prometheus.metrics.model.snapshots.Exemplars;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ExpositionTest {
    /** In the manner of the example in Prometheus' documentation: all that the format allows, at once. */
    private static final String PROMETHEUS = """
            # HELP http_requests_total The total number of HTTP requests.
            # TYPE http_requests_total counter
            http_requests_total{method="post",code="200"} 1027 1395066363000
            http_requests_total{method="post",code="400"}    3 1395066363000

            # Escaping in label values:
            msdos_file_access_time_seconds{path="C:\\\\DIR\\\\FILE.TXT",error="Cannot find file:\\n\\"FILE.TXT\\""} 1.458255915e9

            # Minimalistic line:
            metric_without_timestamp_and_labels 12.47

            # A weird metric from before the epoch:
            something_weird{problem="division by zero"} +Inf -3982045

            # HELP http_request_duration_seconds A histogram of the request duration.
            # TYPE http_request_duration_seconds histogram
            http_request_duration_seconds_bucket{le="0.05"} 24054
            http_request_duration_seconds_bucket{le="+Inf"} 144320
            http_request_duration_seconds_sum 53423
            http_request_duration_seconds_count 144320

            # TYPE rpc_duration_seconds summary
            rpc_duration_seconds{quantile="0.01",} 3102
            rpc_duration_seconds{quantile="0.99"} NaN
            rpc_duration_seconds_sum 1.7560473e+07
            rpc_duration_seconds_count 2693
            """;

    private static final String OPEN_METRICS = """
            # TYPE acme_http_router_request_seconds summary
            # UNIT acme_http_router_request_seconds seconds
            # HELP acme_http_router_request_seconds Latency though all of ACME's \\"router\\".
            acme_http_router_request_seconds_sum{path="/api/v1",method="GET"} 9036.32
            acme_http_router_request_seconds_count{path="/api/v1",method="GET"} 807283.0
            acme_http_router_request_seconds_created{path="/api/v1",method="GET"} 1605281325.0
            # TYPE foo histogram
            foo_bucket{le="0.1"} 8 # {} 0.054
            foo_bucket{le="1.0"} 10 # {trace_id="KOO5S4vxi0o"} 0.67 1520879607.789
            foo_bucket{le="+Inf"} 17 1520879607.5
            foo_count 17
            foo_sum 324789.3
            # TYPE go_goroutines gauge
            go_goroutines 69
            # TYPE process_cpu_seconds counter
            # UNIT process_cpu_seconds seconds
            process_cpu_seconds_total 4.20072246e+06
            # EOF
            """;

    private static Family family(List<Family> families, String name) {
        return families.stream()
                .filter(each -> each.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void prometheusTextIsReadWithTypesLabelsAndTimes() {
        List<Family> families = Exposition.parse(PROMETHEUS);

        assertThat(families)
                .extracting(Family::name)
                .containsExactly(
                        "http_requests_total",
                        "msdos_file_access_time_seconds",
                        "metric_without_timestamp_and_labels",
                        "something_weird",
                        "http_request_duration_seconds",
                        "rpc_duration_seconds");
        assertThat(family(families, "http_requests_total"))
                .isEqualTo(new Family(
                        "http_requests_total",
                        MetricType.COUNTER,
                        "The total number of HTTP requests.",
                        "",
                        List.of(requests("200", 1027), requests("400", 3))));
        assertThat(family(families, "metric_without_timestamp_and_labels").type())
                .isEqualTo(MetricType.UNKNOWN);
        assertThat(family(families, "something_weird").samples().get(0).timestamp())
                .contains(Instant.ofEpochMilli(-3982045));
    }

    private static MetricSample requests(String code, double value) {
        return new MetricSample(
                "http_requests_total",
                Map.of("method", "post", "code", code),
                value,
                Optional.of(Instant.ofEpochMilli(1395066363000L)));
    }

    @Test
    void escapesInLabelsAreUndone() {
        MetricSample sample = family(Exposition.parse(PROMETHEUS), "msdos_file_access_time_seconds")
                .samples()
                .get(0);

        assertThat(sample.label("path")).isEqualTo("C:\\DIR\\FILE.TXT");
        assertThat(sample.label("error")).isEqualTo("Cannot find file:\n\"FILE.TXT\"");
        assertThat(sample.label("not-there")).isEmpty();
    }

    @Test
    void bucketsSumsAndCountsBelongToTheirHistogram() {
        Family histogram = family(Exposition.parse(PROMETHEUS), "http_request_duration_seconds");

        assertThat(histogram.type()).isEqualTo(MetricType.HISTOGRAM);
        assertThat(histogram.samples())
                .extracting(MetricSample::name, sample -> sample.label("le"), MetricSample::value)
                .containsExactly(
                        tuple("http_request_duration_seconds_bucket", "0.05", 24054.0),
                        tuple("http_request_duration_seconds_bucket", "+Inf", 144320.0),
                        tuple("http_request_duration_seconds_sum", "", 53423.0),
                        tuple("http_request_duration_seconds_count", "", 144320.0));
    }

    @Test
    void aMetricThatOnlyLooksLikeASumIsItsOwn() {
        List<Family> families = Exposition.parse("# TYPE queue gauge\nqueue 1\nqueue_sum 2\n");

        assertThat(families).extracting(Family::name).containsExactly("queue", "queue_sum");
    }

    @Test
    void notANumberIsAValue() {
        assertThat(family(Exposition.parse(PROMETHEUS), "rpc_duration_seconds")
                        .samples()
                        .get(1)
                        .value())
                .isNaN();
    }

    @ParameterizedTest
    @CsvSource({
        "+Inf, Infinity",
        "-inf, -Infinity",
        "Inf, Infinity",
        "9223372036854775794, 9.223372036854775807E18",
        "1e-3, 0.001",
        "-0, -0.0",
        ".5, 0.5",
    })
    void numbersAreGosNumbers(String text, double value) {
        assertThat(Exposition.parse("a " + text).get(0).samples().get(0).value())
                .isEqualTo(value);
    }

    @Test
    void openMetricsHasUnitsExemplarsAndTimesInSeconds() {
        List<Family> families = Exposition.parse(OPEN_METRICS);

        assertThat(family(families, "process_cpu_seconds"))
                .isEqualTo(new Family(
                        "process_cpu_seconds",
                        MetricType.COUNTER,
                        "",
                        "seconds",
                        List.of(new MetricSample(
                                "process_cpu_seconds_total", Map.of(), 4.20072246e6, Optional.empty()))));
        assertThat(family(families, "acme_http_router_request_seconds").help())
                .isEqualTo("Latency though all of ACME's \"router\".");
        assertThat(family(families, "acme_http_router_request_seconds").samples())
                .hasSize(3);
        assertThat(family(families, "foo").samples())
                .extracting(MetricSample::value)
                .containsExactly(8.0, 10.0, 17.0, 17.0, 324789.3);
        assertThat(family(families, "foo").samples().get(2).timestamp()).contains(Instant.ofEpochMilli(1520879607500L));
    }

    @Test
    void openMetricsThatWasCutOffIsRefused() {
        String cut = OPEN_METRICS.substring(0, OPEN_METRICS.indexOf("# EOF"));

        assertThatThrownBy(() -> Exposition.parse(cut, Format.OPEN_METRICS))
                .isInstanceOf(ExpositionException.class)
                .hasMessageContaining("must end in # EOF");
    }

    @Test
    void nothingMayFollowTheEnd() {
        assertThatThrownBy(() -> Exposition.parse("a 1\n# EOF\nb 2\n", Format.OPEN_METRICS))
                .hasMessageStartingWith("line 3: nothing may follow # EOF");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "a                            | the value is missing",
                "a b                          | 'b' is not a number",
                "a 1d                         | '1d' is not a number",
                "a 0x10                       | '0x10' is not a number",
                "a 1 2 3                      | '3' must not follow the value",
                "a 1 1.5                      | '1.5' is not a time in whole milliseconds",
                "a{b} 1                       | label b must be followed by =",
                "a{b=1} 1                     | the value of label b must be in quotes",
                "a{b=\"1} 1                   | the value of label b has no closing quote",
                "a{b=\"\\t\"} 1               | the value of label b has an invalid escape: \\t",
                "a{b=\"1\" c=\"2\"} 1         | a comma or a closing brace",
                "a{b=\"1\",b=\"2\"} 1         | label b occurs twice",
                "a{b=\"1\"                    | a comma or a closing brace",
                "a{,} 1                       | the name of a label cannot begin with ','",
                "9a 1                         | the name of a metric cannot begin with '9'",
                "a-b 1                        | '-b' is not a number",
                "# TYPE a thing               | 'thing' is not a metric type",
                "# TYPE                       | the name of a metric is missing",
            })
    void whatIsNotValidIsRefusedWithItsLineAndItsCause(String line, String cause) {
        assertThatThrownBy(() -> Exposition.parse("ok 1\n\n" + line + "\n"))
                .isInstanceOf(ExpositionException.class)
                .hasMessageStartingWith("line 3: ")
                .hasMessageContaining(cause)
                .hasMessageEndingWith("in: " + line);
    }

    @Test
    void aTypeThatComesAfterItsSamplesOrContradictsItselfIsRefused() {
        assertThatThrownBy(() -> Exposition.parse("a 1\n# TYPE a gauge\n"))
                .hasMessageContaining("TYPE of a must come before its samples");
        assertThatThrownBy(() -> Exposition.parse("# TYPE a gauge\n# TYPE a counter\n"))
                .hasMessageContaining("TYPE of a occurs twice with a difference");
    }

    @Test
    void aBucketWithoutABoundIsRefused() {
        assertThatThrownBy(() -> Exposition.parse("# TYPE h histogram\nh_bucket{job=\"x\"} 1\n"))
                .hasMessageContaining("must have a label le");
    }

    @Test
    void whatServersRepeatAndScatterIsPutTogether() {
        List<Family> families =
                Exposition.parse("# TYPE a gauge\na{g=\"0\"} 1\n# TYPE b gauge\nb 2\n# TYPE a gauge\na{g=\"1\"} 3\r\n");

        assertThat(families).hasSize(2);
        assertThat(families.get(0).samples()).extracting(MetricSample::value).containsExactly(1.0, 3.0);
    }

    @ParameterizedTest
    @ValueSource(strings = {"a 1 1e999999999", "a 1 1e-999999999", "a 1 soon"})
    void aTimeThatIsNoneIsRefusedAndCostsNothing(String line) {
        assertThatThrownBy(() -> Exposition.parse(line + "\n# EOF")).hasMessageContaining("is not a time in seconds");
    }

    @Test
    void nothingIsNoMetrics() {
        assertThat(Exposition.parse("")).isEmpty();
        assertThat(Exposition.parse(new StringReader("\n# a comment\n#\n"))).isEmpty();
        assertThat(Exposition.parse("# EOF\n")).isEmpty();
    }

    @Test
    void whatPrometheusOwnWritersWriteIsReadInBothFormats() throws IOException {
        var metrics = new MetricSnapshots(
                CounterSnapshot.builder()
                        .name("requests")
                        .help("back\\slash and\nnew line")
                        .dataPoint(CounterSnapshot.CounterDataPointSnapshot.builder()
                                .labels(Labels.of("path", "C:\\a \"b\"\n"))
                                .value(5)
                                .build())
                        .build(),
                HistogramSnapshot.builder()
                        .name("latency_seconds")
                        .dataPoint(HistogramSnapshot.HistogramDataPointSnapshot.builder()
                                .classicHistogramBuckets(ClassicHistogramBuckets.of(
                                        List.of(0.5, Double.POSITIVE_INFINITY), List.of(1L, 0L)))
                                .sum(0.25)
                                .exemplars(Exemplars.of(Exemplar.builder()
                                        .labels(Labels.of("trace_id", "x"))
                                        .value(0.25)
                                        .timestampMillis(1_700_000_000_000L)
                                        .build()))
                                .build())
                        .build());
        var text = new ByteArrayOutputStream();
        var open = new ByteArrayOutputStream();
        PrometheusTextFormatWriter.create().write(text, metrics);
        new OpenMetricsTextFormatWriter(false, false).write(open, metrics);

        List<Family> fromText = Exposition.parse(text.toString(StandardCharsets.UTF_8));
        List<Family> fromOpen = Exposition.parse(open.toString(StandardCharsets.UTF_8));

        assertThat(family(fromText, "requests_total").samples())
                .isEqualTo(family(fromOpen, "requests").samples());
        assertThat(family(fromText, "requests_total").samples().get(0).labels())
                .containsExactly(Map.entry("path", "C:\\a \"b\"\n"));
        assertThat(family(fromText, "requests_total").help()).isEqualTo("back\\slash and\nnew line");
        assertThat(family(fromText, "latency_seconds").samples())
                .containsExactlyInAnyOrderElementsOf(
                        family(fromOpen, "latency_seconds").samples());
        assertThat(open.toString(StandardCharsets.UTF_8)).contains("# {trace_id=");
        assertThat(family(fromOpen, "latency_seconds").samples())
                .filteredOn(sample -> sample.label("le").equals("+Inf"))
                .extracting(MetricSample::value)
                .containsExactly(1.0);
    }

    @ParameterizedTest
    @CsvSource({
        "application/openmetrics-text; version=1.0.0; charset=utf-8, OPEN_METRICS",
        "text/plain; version=0.0.4; charset=utf-8, TEXT",
    })
    void theFormatIsWhatTheServerSays(String contentType, Format format) {
        assertThat(Format.of(contentType)).contains(format);
        assertThat(Format.of("text/html")).isEmpty();
    }
}
