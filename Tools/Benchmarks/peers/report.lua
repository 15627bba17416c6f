-- wrk's report as one line of JSON. An argument names a file whose content is sent by POST.

init = function(arguments)
  if arguments[1] then
    wrk.method = "POST"
    wrk.headers["Content-Type"] = "application/json"
    wrk.body = assert(io.open(arguments[1], "rb")):read("*a")
  end
end

done = function(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format(
    '{"requests": %d, "seconds": %.6f, "median": %.6f, "slowest1": %.6f, "failed": %d}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e6,
    latency:percentile(99) / 1e6,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
