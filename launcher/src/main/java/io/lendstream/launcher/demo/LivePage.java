package io.lendstream.launcher.demo;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.lendstream.launcher.cli.UserError;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Supplier;

/** Serves the live table to a browser on this machine. */
final class LivePage implements AutoCloseable {
    private static final String PAGE = """
            <!doctype html>
            <html lang="en"><head><meta charset="utf-8"><title>Lendstream demo</title>
            <style>
            :root { color-scheme: light dark; }
            body { font: 14px/1.45 ui-monospace, monospace; margin: 2rem; }
            pre { white-space: pre-wrap; }
            </style></head>
            <body><pre id="table">waiting for the first event</pre>
            <script>
            async function draw() {
              try {
                document.getElementById("table").textContent = await (await fetch("table")).text();
              } catch (e) {
                document.title = "Lendstream demo (ended)";
                return;
              }
              setTimeout(draw, 1000);
            }
            draw();
            </script></body></html>
            """;

    private final HttpServer server;

    private LivePage(HttpServer server) {
        this.server = server;
    }

    static LivePage start(int port, Supplier<List<String>> table) {
        try {
            HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
            server.createContext("/", exchange -> answer(exchange, "text/html", PAGE));
            server.createContext("/table", exchange -> answer(exchange, "text/plain", String.join("\n", table.get())));
            server.start();
            return new LivePage(server);
        } catch (IOException e) {
            throw UserError.failed(
                    "--port is %d, but the page cannot listen there: %s; choose another port, or 0 for any free port."
                            .formatted(port, e.getMessage()));
        }
    }

    String url() {
        return "http://localhost:" + server.getAddress().getPort() + "/";
    }

    private static void answer(HttpExchange exchange, String type, String text) throws IOException {
        byte[] body = text.getBytes(StandardCharsets.UTF_8);
        try (exchange) {
            exchange.getResponseHeaders().set("Content-Type", type + "; charset=utf-8");
            // Browsers must treat names in the table as text.
            exchange.getResponseHeaders().set("X-Content-Type-Options", "nosniff");
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
        }
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
