package io.lendstream.service.health;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Tags;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import org.junit.jupiter.api.Test;

class MetricTextsTest {
    private final PrometheusMeterRegistry metrics = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);

    @Test
    void aMetricOfOursHasItsTextAtEachScrapeAndKeepsItsLabels() {
        metrics.config().meterFilter(MetricTexts.ours());

        metrics.counter("lendstream.reports", "outcome", "bound").increment();
        metrics.timer("lendstream.restore");

        assertThat(metrics.scrape())
                .contains("# HELP lendstream_reports_total Reports written, by outcome.\n")
                .contains("lendstream_reports_total{outcome=\"bound\"} 1.0")
                .contains("# HELP lendstream_restore_seconds Time to restore a changelog partition.\n");
    }

    @Test
    void aMetricOfALibraryKeepsItsOwn() {
        metrics.config().meterFilter(MetricTexts.ours());

        Counter.builder("kafka.records").description("Records of a library").register(metrics);

        assertThat(metrics.scrape()).contains("# HELP kafka_records_total Records of a library\n");
    }

    @Test
    void kafkasLatencyOfABrokerHasAText() {
        metrics.config().meterFilter(MetricTexts.ours());

        metrics.gauge("kafka.producer.node.request.latency.avg", Tags.of("node.id", "node-1"), 4);
        metrics.gauge("kafka.admin.client.node.request.latency.max", Tags.of("node.id", "node-1"), 9);

        assertThat(metrics.scrape())
                .contains(
                        "# HELP kafka_producer_node_request_latency_avg Average latency of a client's requests to the")
                .contains("# HELP kafka_admin_client_node_request_latency_max Largest latency of a client's requests");
    }

    @Test
    void eachTextIsOneLineThatEndsWithAPoint() {
        assertThat(MetricTexts.ours().all())
                .hasSizeGreaterThan(50)
                .allSatisfy((name, text) -> assertThat(text).as(name).matches("[A-Z0-9].{5,220}\\."));
    }
}
