//! A bench as a table for other programs.

use std::fmt::Write as _;

use super::report::BenchReport;

const COLUMNS: &str = "kernel,target,soc,measures,case,block_dim,status,warmup,repeats,flush_bytes,median_s,mad_s,min_s,max_s,\
                       mean_s,stdev_s,bytes,flops,gbps,gflops,roofline_share,trend,change\n";

/// One line for each case, below a line that names the columns. What is not known is empty.
pub fn to_csv(report: &BenchReport) -> String {
    let mut text = COLUMNS.to_owned();
    for kernel in &report.kernels {
        for case in &kernel.cases {
            let stats = |of: fn(&super::Stats) -> f64| number(case.times.seconds.as_ref().map(of));
            let timing = |of: fn(&pto_launch::Timing) -> usize| number(kernel.timing.as_ref().map(of));
            let status = serde_json::to_value(case.status).unwrap_or_default();
            let cells = [
                kernel.name.clone(),
                kernel.target.to_string(),
                kernel.soc.unwrap_or_default().to_owned(),
                report.measures.word().to_owned(),
                case.case.clone(),
                case.block_dim.to_string(),
                status.as_str().unwrap_or_default().to_owned(),
                timing(|timing| timing.warmup as usize),
                timing(|timing| timing.repeats as usize),
                timing(|timing| timing.flush_bytes),
                stats(|stats| stats.median),
                stats(|stats| stats.mad),
                stats(|stats| stats.min),
                stats(|stats| stats.max),
                stats(|stats| stats.mean),
                stats(|stats| stats.stdev),
                number(case.times.bytes),
                number(case.times.flops),
                number(case.times.gbps),
                number(case.times.gflops),
                number(case.roofline.map(|roofline| roofline.share)),
                case.comparison.as_ref().map(|comparison| comparison.trend.word().to_owned()).unwrap_or_default(),
                number(case.comparison.as_ref().and_then(|comparison| comparison.change)),
            ];
            let cells: Vec<String> = cells.iter().map(|cell| quoted(cell)).collect();
            let _ = writeln!(text, "{}", cells.join(","));
        }
    }
    text
}

fn number(value: Option<impl std::fmt::Display>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// RFC 4180: only a cell with a comma needs quotes here, as no name or case holds a quote or a line end.
fn quoted(cell: &str) -> String {
    if cell.contains(',') { format!("\"{cell}\"") } else { cell.to_owned() }
}
