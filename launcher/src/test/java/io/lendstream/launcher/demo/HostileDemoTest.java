package io.lendstream.launcher.demo;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.ServiceId;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Names in the demo's table are text, on a terminal and in a browser. */
class HostileDemoTest {
    private static final String HOSTILE =
            "</pre><script>alert(1)</script>\u001b[2J\u001b]0;gone\u0007\u009b1A\r\n\u202egnp\u2066\u2028\uD800";
    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
    private static final LiveState.Snapshot MOMENT = new LiveState.Snapshot(
            Optional.of(START),
            Optional.of(START),
            Map.of("training", 1),
            0,
            Duration.ZERO,
            List.of(new LiveState.ServiceLine(
                    new ServiceId("service" + HOSTILE), 1, 1, 1, Optional.empty(), Optional.empty())),
            Map.of(),
            Map.of(),
            List.of(new Decision(
                    new DecisionId(new DomainId("domain" + HOSTILE), 1, 1),
                    START,
                    START,
                    false,
                    new Reason("code", "reason" + HOSTILE, Map.of(), List.of()),
                    new Action.Serve(new ServiceId("target" + HOSTILE), List.of(new GpuId("g")), false))),
            List.of());

    private final ByteArrayOutputStream printed = new ByteArrayOutputStream();
    private final Screen screen = new Screen(new PrintStream(printed, true, UTF_8), true, "title" + HOSTILE, 1000, 50);

    @Test
    void aTerminalGetsNoCodesButOurs() {
        screen.show(MOMENT, Duration.ZERO);

        String ours = printed.toString(UTF_8).replace("\u001b[2K", "").replace("\u001b[J", "");
        assertHarmless(ours);
        assertThat(ours).contains("title<", "service<", "target<", "reason<").contains("\\u001b[2J");
    }

    @Test
    void aBrowserGetsThePageWithoutNamesAndTheTableAsPlainText() throws Exception {
        try (LivePage page = LivePage.start(0, () -> screen.table(MOMENT, Duration.ZERO))) {
            HttpResponse<String> table = get(page.url() + "table");
            HttpResponse<String> whole = get(page.url());

            assertHarmless(table.body());
            assertThat(table.body()).contains("service</pre><script>");
            assertThat(table.headers().firstValue("Content-Type")).contains("text/plain; charset=utf-8");
            assertThat(table.headers().firstValue("X-Content-Type-Options")).contains("nosniff");
            assertThat(whole.body()).contains(".textContent = ").doesNotContain("innerHTML", "service", "alert");
        }
    }

    private static HttpResponse<String> get(String url) throws Exception {
        return HttpClient.newHttpClient()
                .send(HttpRequest.newBuilder(URI.create(url)).build(), HttpResponse.BodyHandlers.ofString(UTF_8));
    }

    private static void assertHarmless(String text) {
        assertThat(text.codePoints()
                        .filter(point -> point != '\n')
                        .filter(point -> switch (Character.getType(point)) {
                            case Character.CONTROL, Character.FORMAT, Character.SURROGATE, Character.LINE_SEPARATOR ->
                                true;
                            default -> false;
                        })
                        .mapToObj(Integer::toHexString))
                .isEmpty();
    }
}
