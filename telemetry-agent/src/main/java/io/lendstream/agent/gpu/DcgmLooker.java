package io.lendstream.agent.gpu;

import io.lendstream.agent.exposition.Exposition;
import io.lendstream.agent.exposition.ExpositionException;
import io.lendstream.agent.exposition.Format;
import io.lendstream.agent.gpu.dcgm.DcgmReader;
import io.lendstream.agent.gpu.dcgm.DcgmReadings;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.NodeStatus;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** Reads a dcgm-exporter's metrics page. No connection stays open between reads. */
final class DcgmLooker implements NodeReader {
    private static final int OK = 200;

    /** A node's page has some hundred KiB; a longer answer is not such a page. */
    private static final int LONGEST = 16 << 20;

    private final URI metrics;
    private final Duration patience;
    private final HttpClient client;
    private final Backoff backoff = new Backoff();
    private List<Gpu> lastSeen = List.of();
    private Optional<String> driverVersion = Optional.empty();
    private String failure = "";

    DcgmLooker(URI metrics, Duration patience) {
        this.metrics = metrics;
        this.patience = patience;
        this.client = HttpClient.newBuilder().connectTimeout(patience).build();
    }

    @Override
    public GpuSnapshot look(Instant now) {
        if (!backoff.isDue(now)) {
            return unavailable();
        }
        try {
            return seen(DcgmReader.read(Exposition.parse(page(), Format.TEXT)), now);
        } catch (IOException | ExpositionException | IllegalArgumentException e) {
            return failed("%s: %s".formatted(metrics, said(e)), now);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return failed(metrics + ": interrupted", now);
        }
    }

    private static String said(Exception e) {
        return e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
    }

    private String page() throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(metrics)
                .timeout(patience)
                .header("Accept", "text/plain;version=0.0.4")
                .build();
        HttpResponse<InputStream> response = client.send(request, HttpResponse.BodyHandlers.ofInputStream());
        try (InputStream body = response.body()) {
            if (response.statusCode() != OK) {
                throw new IOException("the answer has HTTP status " + response.statusCode());
            }
            byte[] page = body.readNBytes(LONGEST + 1);
            if (page.length > LONGEST) {
                throw new IOException("the page is longer than %d MiB".formatted(LONGEST >> 20));
            }
            return new String(page, StandardCharsets.UTF_8);
        }
    }

    private GpuSnapshot seen(DcgmReadings readings, Instant now) {
        if (readings.gpus().isEmpty()) {
            return failed(metrics + ": the page has no GPU", now);
        }
        backoff.succeeded();
        lastSeen = readings.gpus();
        driverVersion = readings.driverVersion();
        return new GpuSnapshot(
                NodeStatus.READY, String.join("; ", readings.troubles()), lastSeen, readings.samples(), driverVersion);
    }

    private GpuSnapshot failed(String why, Instant now) {
        failure = why;
        backoff.failed(now);
        return unavailable();
    }

    private GpuSnapshot unavailable() {
        return GpuSnapshot.without(
                NodeStatus.UNAVAILABLE, GpuSnapshot.retried(failure, backoff.pause()), lastSeen, driverVersion);
    }

    @Override
    public void letGo() {
        // nothing is open
    }
}
