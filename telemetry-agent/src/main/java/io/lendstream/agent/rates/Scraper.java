package io.lendstream.agent.rates;

import io.lendstream.agent.exposition.Format;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.zip.GZIPInputStream;

/** Reads texts over HTTP, with limits of time and size. Redirects are not followed: the configured address counts. */
public final class Scraper {
    private static final String TOO_LARGE = "Raise agent.rate-largest, or use an endpoint with a shorter answer.";

    private final HttpClient client;
    private final Duration patience;
    private final int largest;
    private final Optional<Path> token;

    /**
     * Creates a scraper.
     *
     * @param patience time limit of a complete answer
     * @param largest most bytes of an uncompressed answer
     * @param token file with a bearer token, read at each request, because tokens are renewed; empty for none
     */
    public Scraper(Duration patience, int largest, Optional<Path> token) {
        this.client = HttpClient.newBuilder()
                .connectTimeout(patience)
                .followRedirects(HttpClient.Redirect.NEVER)
                .version(HttpClient.Version.HTTP_1_1)
                .build();
        this.patience = patience;
        this.largest = largest;
        this.token = token;
    }

    /**
     * A text with its content type.
     *
     * @param type the content type; empty without one
     */
    public record Answer(String type, String text) {}

    /**
     * Reads an address.
     *
     * @throws IOException without an answer in time, with a status other than 200, or with an answer that is too
     *     large
     */
    public Answer get(URI url) throws IOException {
        var request = HttpRequest.newBuilder(url)
                .timeout(patience)
                .header("Accept", Format.ACCEPT)
                .header("Accept-Encoding", "gzip")
                .header("User-Agent", "lendstream-agent")
                .GET();
        if (token.isPresent()) {
            request.header(
                    "Authorization",
                    "Bearer "
                            + Files.readString(token.get(), StandardCharsets.UTF_8)
                                    .strip());
        }
        CompletableFuture<HttpResponse<byte[]>> answer =
                client.sendAsync(request.build(), response -> new LimitedBody(largest, TOO_LARGE));
        try {
            return read(answer.get(patience.toMillis(), TimeUnit.MILLISECONDS));
        } catch (TimeoutException e) {
            answer.cancel(true);
            throw new IOException("no answer within %d ms (agent.rate-timeout)".formatted(patience.toMillis()), e);
        } catch (ExecutionException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            throw new IOException(cause.getMessage() == null ? cause.toString() : cause.getMessage(), cause);
        } catch (InterruptedException e) {
            answer.cancel(true);
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    private Answer read(HttpResponse<byte[]> response) throws IOException {
        if (response.statusCode() != 200) {
            throw new IOException("status " + response.statusCode());
        }
        boolean packed = response.headers()
                .firstValue("Content-Encoding")
                .map(encoding -> encoding.equalsIgnoreCase("gzip"))
                .orElse(false);
        byte[] text = packed ? unpacked(response.body()) : response.body();
        return new Answer(
                response.headers().firstValue("Content-Type").orElse(""), new String(text, StandardCharsets.UTF_8));
    }

    private byte[] unpacked(byte[] packed) throws IOException {
        try (var in = new GZIPInputStream(new ByteArrayInputStream(packed))) {
            byte[] text = in.readNBytes(largest);
            if (in.read() >= 0) {
                throw LimitedBody.tooLarge(largest, TOO_LARGE);
            }
            return text;
        }
    }
}
