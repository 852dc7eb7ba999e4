//! How encoded tensors lie in memory, as far as the sources of dispatches say it.
//!
//! With data tiling, operands of matrix products lie tile by tile. The compiler writes the tiles
//! into the types with which a dispatch declares its tensors, mostly as an alias:
//!
//! ```text
//! #encoding = #iree_encoding.layout<[#iree_cpu.cpu_encoding_resolver<configuration =
//!     {encoding_info = {innerDimsPos = [0, 1], innerTileSizes = [16, 1], outerDimsPerm = [0, 1]}}>]>
//! %0 = hal.interface.binding.subspan … : !….dispatch.tensor<readonly:tensor<33x65xf32, #encoding>>
//! ```
//!
//! These are the parameters of `linalg.pack`. A layout that says anything else (several of them,
//! another resolver's, swizzled or scalable tiles) is not known.

use std::collections::HashMap;

use mlir::Tiles;

/// The layouts that a text has aliases of.
#[derive(Default)]
pub(super) struct Layouts<'t> {
    aliases: HashMap<&'t str, &'t str>,
}

const LAYOUT: &str = "#iree_encoding.layout<[";

impl<'t> Layouts<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        let lines = text.lines().filter(|line| line.starts_with('#') && line.contains(LAYOUT));
        Self { aliases: lines.filter_map(|line| line.split_once(" = ")).collect() }
    }

    /// The tiles of a tensor of this rank, by its encoding or the alias of that.
    pub(super) fn tiles(&self, encoding: &str, rank: usize) -> Option<Tiles> {
        let encoding = encoding.trim();
        let written = self.aliases.get(encoding).copied().unwrap_or(encoding);
        let list = written.strip_prefix(LAYOUT)?.trim_end_matches('>');
        let resolver = format!("{}>", list.strip_suffix(']')?.trim_end_matches('>'));
        let known = ["#iree_cpu.cpu_encoding_resolver<", "#iree_cpu.vmvx_encoding_resolver<"];
        let configured = known.iter().find_map(|name| resolver.strip_prefix(name))?;
        let (before, info) = configured.split_once("encoding_info = {")?;
        let is_known = match before.strip_prefix("configuration = {")? {
            "" => true,
            // The encoding that the layout was made of.
            other => other.starts_with("encoding_attr = #") && other.matches('=').count() == 1,
        };
        let lists = info.strip_suffix("}}>").filter(|_| is_known)?;
        let (mut inner, mut sizes, mut outer) = (None, None, None);
        for part in lists.split_inclusive(']') {
            let (name, list) = part.trim_start_matches([',', ' ']).split_once(" = [")?;
            let list = list.strip_suffix(']')?.split(',').map(str::trim);
            let list = list.filter(|it| !it.is_empty()).map(|it| it.parse().ok());
            let list: Vec<usize> = list.collect::<Option<_>>()?;
            match name {
                "innerDimsPos" => inner = Some(list),
                "innerTileSizes" => sizes = Some(list),
                "outerDimsPerm" => outer = Some(list),
                _ => return None,
            }
        }
        Tiles::new(rank, &outer?, &inner?, &sizes?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INFO: &str = "encoding_info = {innerDimsPos = [1, 0], innerTileSizes = [16, 2], \
                        outerDimsPerm = [1, 0]}}>]>";

    fn layout(resolver: &str, before: &str) -> String {
        format!("{LAYOUT}#iree_cpu.{resolver}_encoding_resolver<configuration = {{{before}{INFO}")
    }

    #[test]
    fn tiles_are_read_from_aliases_and_in_place() {
        let cpu = layout("cpu", "");
        let text = format!("#encoding = {cpu}\nmodule {{}}\n");
        let layouts = Layouts::of(&text);
        let tiles = Tiles::new(2, &[1, 0], &[1, 0], &[16, 2]);
        assert!(tiles.is_some());
        assert_eq!(layouts.tiles("#encoding", 2), tiles);
        assert_eq!(layouts.tiles(&cpu, 2), tiles);
        assert_eq!(layouts.tiles(&layout("vmvx", "encoding_attr = #encoding1, "), 2), tiles);
        assert_eq!(layouts.tiles("#encoding", 1), None);
    }

    #[test]
    fn other_layouts_are_not_known() {
        let layouts = Layouts::default();
        let other = [
            "#encoding9".to_owned(),
            "#iree_encoding.encoding<operand_index = 0 : index>".to_owned(),
            layout("gpu", ""),
            layout("cpu", "ukernels = \"all\", "),
            layout("cpu", "").replace("}}>]>", ", swizzle = {permutation = [0, 1]}}}>]>"),
            layout("cpu", "").replace("[16, 2]", "[[16], 2]"),
            layout("cpu", "").replace("]>", ", #iree_cpu.cpu_encoding_resolver<>]>"),
        ];
        for it in other {
            assert_eq!(layouts.tiles(&it, 2), None, "{it}");
        }
    }
}
