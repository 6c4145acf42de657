"""The papers that the course cites, and links to them wherever a text names one.

Lessons and docstrings write "Luong et al. (2015)" as a book does, or a paper's title in
italics; the notebooks and the reading edition make links of both.
"""

import re
from typing import NamedTuple


class Paper(NamedTuple):
    """A cited work.

    author : the first author's surname
    address : by DOI, arXiv or the publisher
    """

    author: str
    year: int
    title: str
    address: str


def _arxiv(author: str, year: int, number: str, title: str) -> Paper:
    return Paper(author, year, title, f"https://arxiv.org/abs/{number}")


def _doi(author: str, year: int, name: str, title: str) -> Paper:
    return Paper(author, year, title, f"https://doi.org/{name}")


PAPERS = (
    _arxiv(
        "Ainslie",
        2023,
        "2305.13245",
        "GQA: Training Generalized Multi-Query Transformer Models from Multi-Head "
        "Checkpoints",
    ),
    _arxiv("Ba", 2016, "1607.06450", "Layer Normalization"),
    _arxiv(
        "Bahdanau",
        2015,
        "1409.0473",
        "Neural Machine Translation by Jointly Learning to Align and Translate",
    ),
    _arxiv(
        "Beltagy",
        2020,
        "2004.05150",
        "Longformer: The Long-Document Transformer",
    ),
    Paper(
        "Brown",
        1993,
        "The Mathematics of Statistical Machine Translation: Parameter Estimation",
        "https://aclanthology.org/J93-2003",
    ),
    _arxiv("Brown", 2020, "2005.14165", "Language Models are Few-Shot Learners"),
    Paper(
        "Bishop",
        2006,
        "Pattern Recognition and Machine Learning",
        "https://www.microsoft.com/en-us/research/publication/"
        "pattern-recognition-machine-learning/",
    ),
    _doi(
        "Bojanowski",
        2017,
        "10.1162/tacl_a_00051",
        "Enriching Word Vectors with Subword Information",
    ),
    _doi(
        "Chen",
        1999,
        "10.1006/csla.1999.0128",
        "An Empirical Study of Smoothing Techniques for Language Modeling",
    ),
    _arxiv(
        "Chen",
        2023,
        "2306.15595",
        "Extending Context Window of Large Language Models via Positional "
        "Interpolation",
    ),
    _arxiv(
        "Cheng",
        2016,
        "1601.06733",
        "Long Short-Term Memory-Networks for Machine Reading",
    ),
    _arxiv(
        "Cho",
        2014,
        "1406.1078",
        "Learning Phrase Representations using RNN Encoder–Decoder for Statistical "
        "Machine Translation",
    ),
    _arxiv(
        "Chowdhery",
        2022,
        "2204.02311",
        "PaLM: Scaling Language Modeling with Pathways",
    ),
    _arxiv(
        "Chung",
        2014,
        "1412.3555",
        "Empirical Evaluation of Gated Recurrent Neural Networks on Sequence Modeling",
    ),
    _arxiv(
        "Clark",
        2019,
        "1906.04341",
        "What Does BERT Look At? An Analysis of BERT's Attention",
    ),
    _arxiv(
        "Collins",
        2017,
        "1611.09913",
        "Capacity and Trainability in Recurrent Neural Networks",
    ),
    _arxiv(
        "Dao",
        2022,
        "2205.14135",
        "FlashAttention: Fast and Memory-Efficient Exact Attention with IO-Awareness",
    ),
    _arxiv(
        "Dao",
        2023,
        "2307.08691",
        "FlashAttention-2: Faster Attention with Better Parallelism and Work "
        "Partitioning",
    ),
    _arxiv(
        "Devlin",
        2019,
        "1810.04805",
        "BERT: Pre-training of Deep Bidirectional Transformers for Language "
        "Understanding",
    ),
    Paper(
        "Devroye",
        1986,
        "Non-Uniform Random Variate Generation",
        "http://luc.devroye.org/rnbookindex.html",
    ),
    _arxiv(
        "Dong",
        2021,
        "2103.03404",
        "Attention is not all you need: pure attention loses rank doubly exponentially "
        "with depth",
    ),
    Paper(
        "Elhage",
        2021,
        "A Mathematical Framework for Transformer Circuits",
        "https://transformer-circuits.pub/2021/framework/index.html",
    ),
    _arxiv("Fan", 2018, "1805.04833", "Hierarchical Neural Story Generation"),
    Paper(
        "Gage",
        1994,
        "A New Algorithm for Data Compression",
        "https://dl.acm.org/doi/10.5555/177910.177914",
    ),
    _arxiv(
        "Gao",
        2020,
        "2101.00027",
        "The Pile: An 800GB Dataset of Diverse Text for Language Modeling",
    ),
    _arxiv(
        "Gehring", 2017, "1705.03122", "Convolutional Sequence to Sequence Learning"
    ),
    _arxiv(
        "Gemma",
        2024,
        "2403.08295",
        "Gemma: Open Models Based on Gemini Research and Technology",
    ),
    Paper("Goodfellow", 2016, "Deep Learning", "https://www.deeplearningbook.org"),
    _arxiv(
        "Haviv",
        2022,
        "2203.16634",
        "Transformer Language Models without Positional Encodings Still Learn "
        "Positional Information",
    ),
    _arxiv(
        "Hinton", 2015, "1503.02531", "Distilling the Knowledge in a Neural Network"
    ),
    _doi(
        "Hochreiter",
        1997,
        "10.1162/neco.1997.9.8.1735",
        "Long Short-Term Memory",
    ),
    _arxiv("Hendrycks", 2016, "1606.08415", "Gaussian Error Linear Units (GELUs)"),
    _arxiv(
        "Hoffmann",
        2022,
        "2203.15556",
        "Training Compute-Optimal Large Language Models",
    ),
    _arxiv(
        "Holtzman",
        2020,
        "1904.09751",
        "The Curious Case of Neural Text Degeneration",
    ),
    _arxiv("Jain", 2019, "1902.10186", "Attention is not Explanation"),
    _arxiv("Jiang", 2023, "2310.06825", "Mistral 7B"),
    _arxiv(
        "Kaplan",
        2020,
        "2001.08361",
        "Scaling Laws for Neural Language Models",
    ),
    Paper(
        "Karpathy",
        2019,
        "A Recipe for Training Neural Networks",
        "https://karpathy.github.io/2019/04/25/recipe/",
    ),
    _arxiv("Kingma", 2015, "1412.6980", "Adam: A Method for Stochastic Optimization"),
    _arxiv(
        "Katharopoulos",
        2020,
        "2006.16236",
        "Transformers are RNNs: Fast Autoregressive Transformers with Linear Attention",
    ),
    _arxiv(
        "Kazemnejad",
        2023,
        "2305.19466",
        "The Impact of Positional Encoding on Length Generalization in Transformers",
    ),
    _arxiv(
        "Klein",
        2017,
        "1701.02810",
        "OpenNMT: Open-Source Toolkit for Neural Machine Translation",
    ),
    _doi(
        "Koehn",
        2007,
        "10.3115/1557769.1557821",
        "Moses: Open Source Toolkit for Statistical Machine Translation",
    ),
    _arxiv(
        "Koehn", 2017, "1706.03872", "Six Challenges for Neural Machine Translation"
    ),
    _arxiv(
        "Kudo",
        2018,
        "1804.10959",
        "Subword Regularization: Improving Neural Network Translation Models with "
        "Multiple Subword Candidates",
    ),
    _arxiv(
        "Kwon",
        2023,
        "2309.06180",
        "Efficient Memory Management for Large Language Model Serving with "
        "PagedAttention",
    ),
    _arxiv(
        "Lee",
        2019,
        "1810.00825",
        "Set Transformer: A Framework for Attention-based Permutation-Invariant "
        "Neural Networks",
    ),
    _arxiv("Lin", 2017, "1703.03130", "A Structured Self-Attentive Sentence Embedding"),
    _arxiv("Loshchilov", 2019, "1711.05101", "Decoupled Weight Decay Regularization"),
    _arxiv(
        "Leviathan",
        2023,
        "2211.17192",
        "Fast Inference from Transformers via Speculative Decoding",
    ),
    _arxiv(
        "Luong",
        2015,
        "1508.04025",
        "Effective Approaches to Attention-based Neural Machine Translation",
    ),
    _arxiv("Michel", 2019, "1905.10650", "Are Sixteen Heads Really Better than One?"),
    # The DOI is that of the third edition; the first has none.
    _doi("Myers", 1979, "10.1002/9781119202486", "The Art of Software Testing"),
    _arxiv(
        "Milakov",
        2018,
        "1805.02867",
        "Online normalizer calculation for softmax",
    ),
    _arxiv(
        "Olsson",
        2022,
        "2209.11895",
        "In-context Learning and Induction Heads",
    ),
    _doi(
        "Papineni",
        2002,
        "10.3115/1073083.1073135",
        "BLEU: a Method for Automatic Evaluation of Machine Translation",
    ),
    _arxiv(
        "Parikh",
        2016,
        "1606.01933",
        "A Decomposable Attention Model for Natural Language Inference",
    ),
    _arxiv(
        "Pascanu",
        2013,
        "1211.5063",
        "On the difficulty of training recurrent neural networks",
    ),
    _arxiv(
        "Peng",
        2023,
        "2309.00071",
        "YaRN: Efficient Context Window Extension of Large Language Models",
    ),
    _arxiv(
        "Press",
        2022,
        "2108.12409",
        "Train Short, Test Long: Attention with Linear Biases Enables Input Length "
        "Extrapolation",
    ),
    _doi(
        "Popović",
        2015,
        "10.18653/v1/W15-3049",
        "chrF: character n-gram F-score for automatic MT evaluation",
    ),
    _arxiv("Post", 2018, "1804.08771", "A Call for Clarity in Reporting BLEU Scores"),
    _arxiv(
        "Rabe",
        2021,
        "2112.05682",
        "Self-attention Does Not Need O(n²) Memory",
    ),
    Paper(
        "Radford",
        2018,
        "Improving Language Understanding by Generative Pre-Training",
        "https://cdn.openai.com/research-covers/language-unsupervised/"
        "language_understanding_paper.pdf",
    ),
    Paper(
        "Radford",
        2019,
        "Language Models are Unsupervised Multitask Learners",
        "https://cdn.openai.com/better-language-models/"
        "language_models_are_unsupervised_multitask_learners.pdf",
    ),
    _arxiv(
        "Raffel",
        2020,
        "1910.10683",
        "Exploring the Limits of Transfer Learning with a Unified Text-to-Text "
        "Transformer",
    ),
    _arxiv(
        "Reimers",
        2019,
        "1908.10084",
        "Sentence-BERT: Sentence Embeddings using Siamese BERT-Networks",
    ),
    _arxiv(
        "Sennrich",
        2016,
        "1508.07909",
        "Neural Machine Translation of Rare Words with Subword Units",
    ),
    _arxiv(
        "Shaw",
        2018,
        "1803.02155",
        "Self-Attention with Relative Position Representations",
    ),
    _arxiv(
        "Shazeer",
        2019,
        "1911.02150",
        "Fast Transformer Decoding: One Write-Head is All You Need",
    ),
    _arxiv(
        "Shazeer",
        2020,
        "2002.05202",
        "GLU Variants Improve Transformer",
    ),
    Paper(
        "Sculley",
        2015,
        "Hidden Technical Debt in Machine Learning Systems",
        "https://papers.nips.cc/paper_files/paper/2015/hash/"
        "86df7dcfd896fcaf2674f757a2463eba-Abstract.html",
    ),
    _arxiv("Song", 2021, "2012.15524", "Fast WordPiece Tokenization"),
    _arxiv(
        "Su",
        2021,
        "2104.09864",
        "RoFormer: Enhanced Transformer with Rotary Position Embedding",
    ),
    _arxiv(
        "Sutskever",
        2014,
        "1409.3215",
        "Sequence to Sequence Learning with Neural Networks",
    ),
    _arxiv(
        "Szegedy",
        2016,
        "1512.00567",
        "Rethinking the Inception Architecture for Computer Vision",
    ),
    _doi(
        "Tillet",
        2019,
        "10.1145/3315508.3329973",
        "Triton: An Intermediate Language and Compiler for Tiled Neural Network "
        "Computations",
    ),
    _arxiv(
        "Touvron",
        2023,
        "2302.13971",
        "LLaMA: Open and Efficient Foundation Language Models",
    ),
    _arxiv("Vaswani", 2017, "1706.03762", "Attention Is All You Need"),
    _arxiv(
        "Voita",
        2019,
        "1905.09418",
        "Analyzing Multi-Head Self-Attention: Specialized Heads Do the Heavy Lifting, "
        "the Rest Can Be Pruned",
    ),
    _arxiv(
        "Wang",
        2020,
        "2002.10957",
        "MiniLM: Deep Self-Attention Distillation for Task-Agnostic Compression of "
        "Pre-Trained Transformers",
    ),
    _arxiv("Wiegreffe", 2019, "1908.04626", "Attention is not not Explanation"),
    _doi(
        "Williams",
        2009,
        "10.1145/1498765.1498785",
        "Roofline: An Insightful Visual Performance Model for Multicore Architectures",
    ),
    _doi(
        "Witten",
        1991,
        "10.1109/18.87000",
        "The Zero-Frequency Problem: Estimating the Probabilities of Novel Events in "
        "Adaptive Text Compression",
    ),
    _arxiv(
        "Wu",
        2016,
        "1609.08144",
        "Google's Neural Machine Translation System: Bridging the Gap between Human "
        "and Machine Translation",
    ),
    _arxiv(
        "Xiong",
        2020,
        "2002.04745",
        "On Layer Normalization in the Transformer Architecture",
    ),
    _arxiv(
        "Yang",
        2025,
        "2501.18795",
        "Rope to Nope and Back Again: A New Hybrid Attention Strategy",
    ),
    _arxiv("Zhang", 2019, "1910.07467", "Root Mean Square Layer Normalization"),
)

_GAP = r"(?:\s|\n> ?)+"
_OTHERS = rf"(?:(?:,|,?{_GAP}and)?{_GAP}(?:et{_GAP}al\.|others|[A-Z][\w’]+))*"
_YEAR = rf",?{_GAP}(?:\(((?:19|20)\d\d)\)|((?:19|20)\d\d)\b)"
CITATION = re.compile(rf"\b([A-Z][\w’]+){_OTHERS}{_YEAR}")
_AUTHOR = "|".join(sorted({paper.author for paper in PAPERS}, key=len, reverse=True))
_KNOWN = re.compile(rf"\b({_AUTHOR})\b{_OTHERS}{_YEAR}")
_TITLE = re.compile(r"(?<!\*)\*([A-Z][^*]+)\*(?!\*)")  # no bold term
# What is set as code, as a formula or as a link stays as it is.
_CODE_OR_LINK = re.compile(r"`[^`]*`|\$[^$]*\$|\[[^\]]*\]\([^)]*\)")


def with_links(text: str) -> str:
    """Return Markdown in which each paper that is named leads to it.

    Papers are named by authors and year, or by the title in italics (or its beginning,
    up to a colon).

    >>> with_links("see Ba et al. (2016)")
    'see [Ba et al. (2016)](https://arxiv.org/abs/1607.06450)'
    """
    parts, end = list[str](), 0
    for part in _CODE_OR_LINK.finditer(text):
        parts += [_linked(text[end : part.start()]), part[0]]
        end = part.end()
    return "".join([*parts, _linked(text[end:])])


def papers_in(text: str) -> list[Paper]:
    """Return the papers that a text names by authors and year, each once.

    >>> [paper.title for paper in papers_in("Source: Ba et al. (2016), section 3")]
    ['Layer Normalization']
    """
    named = {(match[1], int(match[2] or match[3])) for match in _KNOWN.finditer(text)}
    return [paper for paper in PAPERS if (paper.author, paper.year) in named]


def _linked(text: str) -> str:
    return _KNOWN.sub(_cited, _TITLE.sub(_titled, text))


def _titled(match: re.Match[str]) -> str:
    title = " ".join(match[1].replace("\n>", " ").split())
    for paper in PAPERS:
        if title in (paper.title, paper.title.partition(":")[0]):
            return f"[{match[0]}]({paper.address})"
    return match[0]


def _cited(match: re.Match[str]) -> str:
    year = int(match[2] or match[3])
    for paper in PAPERS:
        if (paper.author, paper.year) == (match[1], year):
            return f"[{match[0]}]({paper.address})"
    return match[0]
